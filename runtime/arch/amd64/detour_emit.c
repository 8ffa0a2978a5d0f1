/* Writes the code of detours. For a load (r and t are registers that it does not use):
 *
 *	lea -128(%rsp), %rsp; push r; push t; pushf	beyond the red zone
 *	lea ADDRESS, r; is it in the window, and is no word of it marked? else to slow
 *	add delta, r; popf; pop t
 *	LOAD (r)
 *	pop r; lea 128(%rsp), %rsp; to the end
 * slow:
 *	popf; pop t; pop r; lea 128(%rsp), %rsp
 *	LOAD ADDRESS
 * end:
 */
#include <string.h>

#include "detour.h"

static void emit_bytes(struct emitter *e, const void *bytes, size_t n)
{
	if ((size_t)(e->end - e->at) >= n)
		memcpy(e->at, bytes, n);
	e->at += n;
}

#define PUT(e, ...) \
	emit_bytes(e, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void put_distance(struct emitter *e, uint64_t to)
{
	int32_t d = (int32_t)(to - ((uint64_t)e->at + 4));

	emit_bytes(e, &d, sizeof d);
}

/* Emits `opcode r64, r/m64` whose memory operand is a field of the window. */
static void put_field(struct emitter *e, uint8_t opcode, uint8_t reg, const uint64_t *field)
{
	PUT(e, 0x48, opcode, (uint8_t)(reg << 3 | 5));
	put_distance(e, (uint64_t)field);
}

/* Emits a conditional jump; aim() sets its target later. */
static uint8_t *put_branch(struct emitter *e, uint8_t condition)
{
	PUT(e, 0x0f, (uint8_t)(0x80 | condition), 0, 0, 0, 0);
	return e->at;
}

static void aim(const struct emitter *e, uint8_t *after)
{
	int32_t d = (int32_t)(e->at - after);

	if (after <= e->end)
		memcpy(after - 4, &d, sizeof d);
}

/* Asks whether the instruction uses the register with this number (0 to 7, which need no
 * prefix). */
static bool uses(const struct instruction *in, int reg)
{
	for (uint32_t i = 0; i < in->in.operand_count; i++) {
		const ZydisDecodedOperand *o = &in->ops[i];
		ZydisRegister list[3] = { ZYDIS_REGISTER_NONE, ZYDIS_REGISTER_NONE,
					  ZYDIS_REGISTER_NONE };

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
			list[0] = o->reg.value;
		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			list[1] = o->mem.base;
			list[2] = o->mem.index;
		}
		for (int k = 0; k < 3; k++)
			if (list[k] != ZYDIS_REGISTER_NONE &&
			    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, list[k]) ==
				    (ZydisRegister)(ZYDIS_REGISTER_RAX + reg))
				return true;
	}
	return false;
}

static bool choose_scratch(const struct instruction *in, uint8_t scratch[2])
{
	/* rsp and rbp have special encodings, so they are not used */
	static const uint8_t usable[] = { 0, 1, 2, 3, 6, 7 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < sizeof usable && n < 2; i++)
		if (!uses(in, usable[i]))
			scratch[n++] = usable[i];
	return n == 2;
}

/* Gives the extension bits of the instruction's index register (x) and base register (b). */
static void extensions(const struct instruction *in, uint8_t *x, uint8_t *b)
{
	/* Zydis shows these as they are encoded, inverted */
	if (in->in.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX) {
		const uint8_t *vex = in->bytes + in->in.raw.vex.offset;

		*x = vex[0] == 0xc4 ? (vex[1] >> 6 & 1) ^ 1 : 0;
		*b = vex[0] == 0xc4 ? (vex[1] >> 5 & 1) ^ 1 : 0;
		return;
	}
	if (in->in.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
		const uint8_t p0 = in->bytes[in->in.raw.evex.offset + 1];

		*x = (p0 >> 6 & 1) ^ 1;
		*b = (p0 >> 5 & 1) ^ 1;
		return;
	}
	*x = in->in.raw.rex.X;
	*b = in->in.raw.rex.B;
}

static void put_lea(struct emitter *e, const struct instruction *in, uint8_t to)
{
	const ZydisDecodedInstruction *d = &in->in;
	uint32_t first = d->raw.modrm.offset + 1u,
		 last = d->raw.imm[0].size ? d->raw.imm[0].offset : d->length;
	uint8_t x, b;

	extensions(in, &x, &b);
	/* a one-byte displacement of EVEX counts operands, not bytes */
	if (d->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && d->raw.modrm.mod == 1) {
		const int32_t bytes = (int32_t)in->load->mem.disp.value;

		PUT(e, (uint8_t)(0x48 | x << 1 | b), 0x8d,
		    (uint8_t)(2 << 6 | to << 3 | d->raw.modrm.rm));
		if (d->raw.modrm.rm == 4)
			emit_bytes(e, in->bytes + first, 1);
		emit_bytes(e, &bytes, sizeof bytes);
		return;
	}
	PUT(e, (uint8_t)(0x48 | x << 1 | b), 0x8d,
	    (uint8_t)(d->raw.modrm.mod << 6 | to << 3 | d->raw.modrm.rm));
	emit_bytes(e, in->bytes + first, last - first); /* SIB byte and displacement */
}

/* Emits the instruction with (r) as its memory operand. */
static void put_load(struct emitter *e, const struct instruction *in, uint8_t r)
{
	const ZydisDecodedInstruction *d = &in->in;
	uint8_t head[15];
	uint32_t n = d->raw.modrm.offset,
		 imm = d->raw.imm[0].size ? d->raw.imm[0].offset : d->length;

	memcpy(head, in->bytes, n);
	if (d->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && head[d->raw.vex.offset] == 0xc4)
		head[d->raw.vex.offset + 1] |= 0x20;
	else if (d->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		head[d->raw.evex.offset + 1] |= 0x60;
	else if (d->attributes & ZYDIS_ATTRIB_HAS_REX)
		head[d->raw.rex.offset] &= 0xfe;
	emit_bytes(e, head, n);
	PUT(e, (uint8_t)(d->raw.modrm.reg << 3 | r));
	emit_bytes(e, in->bytes + imm, d->length - imm);
}

/* Emits a test of the map: jumps if any word that begins in the `bytes` bytes from t on is marked.
 * t: offset in the window. */
static uint8_t *put_test(struct emitter *e, uint8_t t, uint32_t bytes)
{
	const uint8_t operand = (uint8_t)(7 << 3 | t);

	PUT(e, 0x48, 0xc1, (uint8_t)(0xe8 | t), 3); /* shr $3, t */
	put_field(e, 0x03, t, &e->window->map);
	switch (bytes / MAP_WORD) {
	case 8: PUT(e, 0x48, 0x83, operand, 0); break;
	case 4: PUT(e, 0x83, operand, 0); break;
	case 2: PUT(e, 0x66, 0x83, operand, 0); break;
	default: PUT(e, 0x80, operand, 0); break;
	}
	return put_branch(e, 5);
}

static bool emit_load(struct emitter *e, const struct instruction *in, struct detour_part *part)
{
	const uint32_t bytes = in->load->size / 8u;
	uint8_t scratch[2], r, t, *slow[3], *done;

	if (!choose_scratch(in, scratch))
		return false;
	r = part->address = scratch[0];
	t = scratch[1];
	PUT(e, 0x48, 0x8d, 0x64, 0x24, 0x80, (uint8_t)(0x50 | r), (uint8_t)(0x50 | t), 0x9c);
	put_lea(e, in, r);
	PUT(e, 0x48, 0x89, (uint8_t)(0xc0 | r << 3 | t)); /* mov r, t */
	put_field(e, 0x2b, t, &e->window->start);
	put_field(e, 0x3b, t, &e->window->len_bytes);
	slow[0] = put_branch(e, 3);
	slow[1] = put_test(e, t, bytes);
	/* offset of the last byte */
	PUT(e, 0x48, 0x8d, (uint8_t)(0x40 | t << 3 | r), (uint8_t)(bytes - 1));
	put_field(e, 0x2b, t, &e->window->start);
	slow[2] = put_test(e, t, 1);
	put_field(e, 0x03, r, &e->window->delta);
	PUT(e, 0x9d, (uint8_t)(0x58 | t));
	part->fast = (uint64_t)e->at;
	put_load(e, in, r);
	PUT(e, (uint8_t)(0x58 | r), 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0, 0xe9, 0, 0, 0, 0);
	done = e->at;
	for (int i = 0; i < 3; i++)
		aim(e, slow[i]);
	PUT(e, 0x9d, (uint8_t)(0x58 | t), (uint8_t)(0x58 | r), 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0,
	    0);
	part->slow = (uint64_t)e->at;
	emit_bytes(e, in->bytes, in->in.length);
	aim(e, done);
	return true;
}

/* Pushes the return address that the original call would push: code that reads the stack finds the
 * program's own address. */
static void emit_return_address(struct emitter *e, uint64_t to)
{
	const uint32_t low = (uint32_t)to, high = (uint32_t)(to >> 32);

	PUT(e, 0x68);
	emit_bytes(e, &low, sizeof low);
	PUT(e, 0xc7, 0x44, 0x24, 4);
	emit_bytes(e, &high, sizeof high);
}

/* Emits the last instruction of a group if it is a jump to a constant address, or a call. */
static void emit_jump(struct emitter *e, const struct instruction *in)
{
	const uint64_t end = in->pc + in->in.length, to = end + (uint64_t)in->in.raw.imm[0].value.s;
	const bool is_call = in->in.meta.category == ZYDIS_CATEGORY_CALL;

	if (is_call)
		emit_return_address(e, end);
	if (is_call || in->in.mnemonic == ZYDIS_MNEMONIC_JMP)
		PUT(e, 0xe9);
	else
		PUT(e, 0x0f, (uint8_t)(0x80 | (in->in.opcode & 15)));
	put_distance(e, to);
}

bool emit_group(struct emitter *e, const struct instruction *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct instruction *in = &list[i];
		struct detour_part *part = &e->parts[i];

		*part = (struct detour_part){ .original = in->pc, .begin = (uint64_t)e->at };
		if (in->load) {
			if (!emit_load(e, in, part))
				return false;
		} else if (in->in.raw.imm[0].is_relative) {
			emit_jump(e, in);
		} else {
			part->slow = (uint64_t)e->at;
			emit_bytes(e, in->bytes, in->in.length);
		}
		part->end = (uint64_t)e->at;
	}
	PUT(e, 0xe9);
	put_distance(e, list[n - 1].pc + list[n - 1].in.length);
	return e->at <= e->end;
}
