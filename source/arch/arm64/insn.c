/* Decodes arm64 instructions, as far as they form addresses. a64/ decodes accesses to memory;
 * arithmetic that compilers use for addresses is decoded here, bit by bit. Any other instruction
 * counts as writing the register in its lowest five bits, which is where nearly all have it. */
#include "source/insn.h"

#include <elf.h>
#include <string.h>

#include "a64/a64.h"

enum { X0 = 0, X29 = 29, X30 = 30, SP = 31, ZERO = 31 };
#define REGISTER(r) (1ull << (r))
#define BITS(word, high, low) ((word) >> (low) & ((2u << ((high) - (low))) - 1))

const struct insn_machine insn_machine = {
	.elf = EM_AARCH64,
	.kept = REGISTER(19) | REGISTER(20) | REGISTER(21) | REGISTER(22) | REGISTER(23) |
		REGISTER(24) | REGISTER(25) | REGISTER(26) | REGISTER(27) | REGISTER(28) |
		REGISTER(X29) | REGISTER(SP),
	.result = X0,
	.stack = SP,
	.frame = X29,
	.arguments = { 0, 1, 2, 3, 4, 5, 6, 7 },
	.narguments = 8,
};

static int unless_zero(uint32_t r)
{
	return r == ZERO ? INSN_NO_REGISTER : (int)r;
}

/* ---- memory ---- */

static void decode_memory(struct insn *out, const struct a64 *m)
{
	bool is_whole = m->file == A64_GENERAL && m->each_bytes == 8 && !m->is_structure;
	unsigned n = m->nregs > 2 ? 2 : m->nregs;
	uint8_t regs[2] = { m->rt, m->rt2 };

	out->at = (struct insn_address){ .base = m->mode == A64_LITERAL ? INSN_NO_REGISTER : m->rn,
					 .index = INSN_NO_REGISTER,
					 .scale = 1 };
	if (m->mode == A64_OFFSET || m->mode == A64_PRE)
		out->at.offset = m->is_vector_multiple ? 0 : m->offset;
	if (m->mode == A64_INDEX) {
		out->at.index = unless_zero(m->rm);
		out->at.scale = 1u << m->shift;
	}
	if (m->mode == A64_PRE || m->mode == A64_POST) {
		out->moves = m->offset;
		out->writes |= REGISTER(m->rn);
	}
	if (a64_writes(m))
		out->stored_bytes = a64_bytes(m, 16, 64);
	for (unsigned i = 0; i < n && m->file == A64_GENERAL && a64_reads(m); i++)
		if (regs[i] != ZERO)
			out->writes |= REGISTER(regs[i]);
	/* the old value goes to rt or rs; casp writes a pair */
	if (m->kind == A64_ATOMIC || m->kind == A64_STORE_EXCLUSIVE) {
		out->writes |= REGISTER(m->rs) | REGISTER(m->rs | 1u);
		out->writes &= ~(m->rs == ZERO ? REGISTER(ZERO) : 0);
	}
	if (!is_whole || (m->kind != A64_LOAD && m->kind != A64_STORE))
		return;
	out->does = m->kind == A64_LOAD ? INSN_LOAD : INSN_SAVE;
	for (unsigned i = 0; i < n; i++)
		(m->kind == A64_LOAD ? out->to : out->saved)[i] = unless_zero(regs[i]);
}

/* ---- arithmetic ---- */

/* Notes that the instruction sets register to[0] to base + index * scale + offset. */
static void set_form(struct insn *out, int base, int index, unsigned scale, int64_t offset)
{
	out->does = INSN_FORM;
	out->at = (struct insn_address){ base, index, scale, offset };
}

static void set_source(struct insn *out, enum insn_does does, int from, unsigned shift)
{
	if (from < 0)
		return;
	out->does = does;
	out->from = from;
	out->shift = shift;
}

/* Decodes those forms of ubfm and sbfm that shift to the left or extend a value. The result of
 * other forms, such as shifts to the right, stays unknown. */
static void bit_field(struct insn *out, uint32_t w)
{
	unsigned bits = w >> 31 ? 64 : 32, immr = BITS(w, 21, 16), imms = BITS(w, 15, 10);
	int from = unless_zero(BITS(w, 9, 5));

	if (immr == 0 && imms < bits - 1)
		set_source(out, INSN_EXTEND, from, 0);
	else if (imms < immr) /* lsl, ubfiz, sbfiz */
		set_source(out, INSN_SHIFT, from, bits - immr);
}

static void decode_arithmetic(struct insn *out, uint32_t w)
{
	int d = (int)BITS(w, 4, 0), n = (int)BITS(w, 9, 5), m = unless_zero(BITS(w, 20, 16));
	int64_t sign = w >> 30 & 1 ? -1 : 1;
	bool sets_flags = w >> 29 & 1;

	/* add or sub of a constant; 31 is the stack pointer unless it sets flags */
	if ((w & 0x1f800000) == 0x11000000) {
		int64_t by = (int64_t)BITS(w, 21, 10) << (w >> 22 & 1 ? 12 : 0);

		if (sets_flags && d == ZERO)
			return;
		out->to[0] = d;
		out->writes = REGISTER(d);
		set_form(out, n, INSN_NO_REGISTER, 1, sign * by);
		return;
	}
	if (d == ZERO && (w & 0x1fe00000) != 0x0b200000)
		return;
	out->to[0] = d;
	out->writes = REGISTER(d);
	if ((w & 0x7fe0ffe0) == 0x2a0003e0) /* mov */
		set_source(out, INSN_MOVE, m, 0);
	else if ((w & 0x5fe00000) == 0x0b000000 && n != ZERO) /* add of a register, shifted left */
		set_form(out, n, m, 1u << (BITS(w, 15, 10) & 31), 0);
	else if ((w & 0x5fe00000) == 0x0b200000) /* add of a register, extended and shifted */
		set_form(out, n, m, 1u << BITS(w, 12, 10), 0);
	else if ((w & 0x7f000000) == 0x1b000000 && (w & 0x8000) == 0 &&
		 /* madd, smaddl, umaddl: base + n elements of unknown size */
		 BITS(w, 14, 10) != ZERO)
		set_form(out, (int)BITS(w, 14, 10), n, 0, 0);
	else if ((w & 0x7f800000) == 0x53000000 || (w & 0x7f800000) == 0x13000000)
		bit_field(out, w);
}

/* Does the vector instruction write a general register? Few do. */
static bool is_to_general(uint32_t w)
{
	return (w & 0x5f20fc00) == 0x1e200000 || (w & 0xbfe0ec00) == 0x0e002c00;
}

static bool is_branch(struct insn *out, uint32_t w)
{
	if ((w & 0x7c000000) == 0x14000000) { /* b, bl */
		out->does = w >> 31 ? INSN_CALL : INSN_JUMP;
		out->target = out->pc + (uint64_t)a64_field(w, 0, 26) * 4;
	} else if ((w & 0xfe000000) == 0xd6000000) { /* br, blr, ret */
		out->does = (w & 0x00600000) == 0x00200000 ? INSN_CALL : INSN_JUMP;
	} else if ((w & 0x1c000000) != 0x14000000 || (w & 0xfff00000) == 0xd5300000 ||
		   (w & 0xfff80000) == 0xd5280000) {
		/* mrs and sysl write a register */
		return false;
	}
	if (out->does == INSN_CALL)
		out->writes = REGISTER(X30);
	return true;
}

uint32_t insn_decode(struct insn *out, const uint8_t *bytes, size_t len_bytes, uint64_t pc)
{
	struct a64 m;
	uint32_t w;

	if (len_bytes < sizeof w)
		return 0;
	memcpy(&w, bytes, sizeof w);
	*out = (struct insn){ .pc = pc,
			      .len_bytes = sizeof w,
			      .to = { INSN_NO_REGISTER, INSN_NO_REGISTER },
			      .saved = { INSN_NO_REGISTER, INSN_NO_REGISTER },
			      .from = INSN_NO_REGISTER,
			      .at = { .base = INSN_NO_REGISTER, .index = INSN_NO_REGISTER } };
	a64_decode(&m, w);
	if (m.kind != A64_OTHER)
		decode_memory(out, &m);
	else if (!is_branch(out, w) && ((w & 0x0e000000) != 0x0e000000 || is_to_general(w)))
		decode_arithmetic(out, w);
	return out->len_bytes;
}

/* Finds the slot through which an entry of the procedure linkage table jumps: decodes adrp x16,
 * page; ldr x17, [x16, #offset]; add; br x17, perhaps after a bti. */
uint64_t insn_entry_slot(const uint8_t *bytes, size_t len_bytes, uint64_t pc)
{
	uint32_t w[3];
	uint64_t page;

	if (len_bytes < sizeof w)
		return 0;
	memcpy(w, bytes, sizeof w);
	if (w[0] == 0xd503245f) { /* bti c */
		w[0] = w[1];
		w[1] = w[2];
		pc += 4;
	}
	if ((w[0] & 0x9f00001f) != 0x90000010 || (w[1] & 0xffc003ff) != 0xf9400211)
		return 0;
	page = (pc & ~0xfffull) +
	       ((uint64_t)a64_field(w[0], 5, 19) << 14 | (uint64_t)BITS(w[0], 30, 29) << 12);
	return page + BITS(w[1], 21, 10) * 8;
}
