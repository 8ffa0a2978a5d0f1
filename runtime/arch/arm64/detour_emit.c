/* Writes the stubs of detours. For a load (r and t are registers that it does not use):
 *
 *	stp r, t, [sp, #-16]!
 *	r = ADDRESS - start; is it in the window, and is no word of it marked? else to slow
 *	add r, r, there; ldr t, [sp, #8]
 *	LOAD [r]
 *	ldr r, [sp], #16; base + OFFSET, if it is written back; b to what follows
 * slow:
 *	ldp r, t, [sp], #16
 *	LOAD ADDRESS
 *	b to what follows
 *
 * Nothing below the stack pointer belongs to anybody, so that it is moved. Flags are not touched:
 * comparisons are subtractions whose highest bit is tested. */
#include "detour.h"

#include "a64/a64.h"
#include "arch.h"
#include "near.h"

#define SP 31u
#define RN(n) ((n) << 5)
#define RM(n) ((n) << 16)
#define FIRST_SCRATCH 9u /* registers from x9 to x17 are tried; a load uses four at most */

struct emitter {
	uint32_t *at;
	const struct lead *lead;
	struct a64 in;
	uint32_t r, t;
	uint32_t *slow[5]; /* branches to `slow` */
	uint32_t nslow;
};

static void emit_word(struct emitter *e, uint32_t word)
{
	*e->at++ = word;
}

static void put_branch(struct emitter *e, uint64_t to)
{
	emit_word(e, near_branch((uint64_t)e->at, to));
}

/* Emits a load of a word of the lead into register t. */
static void put_field(struct emitter *e, const uint64_t *field)
{
	const int64_t distance = (int64_t)field - (int64_t)e->at;

	emit_word(e, 0x58000000u | ((uint32_t)(distance / 4) & 0x7ffff) << 5 | e->t);
}

/* Emits a branch to `slow`, whose distance aim_slow() sets. */
static void put_slow(struct emitter *e, uint32_t word)
{
	e->slow[e->nslow++] = e->at;
	emit_word(e, word);
}

#define CBNZ 0xb5000000u
#define TBNZ_63 0xb7f80000u
#define TBZ_63 0xb6f80000u

static void aim_slow(const struct emitter *e)
{
	for (uint32_t i = 0; i < e->nslow; i++) {
		const uint32_t distance = (uint32_t)(e->at - e->slow[i]), word = *e->slow[i];

		/* in all these branches, the field of the distance is large enough for a stub */
		*e->slow[i] = word | distance << 5;
	}
}

/* Emits to = from + n, for |n| < 2^24. */
static void put_add(struct emitter *e, uint32_t to, uint32_t from, int64_t n)
{
	const uint32_t opcode = n < 0 ? 0xd1000000u : 0x91000000u;
	const uint64_t size = (uint64_t)(n < 0 ? -n : n);

	emit_word(e, opcode | (uint32_t)(size & 0xfff) << 10 | RN(from) | to);
	if (size >> 12)
		emit_word(e, opcode | 1u << 22 | (uint32_t)(size >> 12) << 10 | RN(to) | to);
}

/* Emits to = from + n vector lengths. */
static void put_add_vectors(struct emitter *e, uint32_t to, uint32_t from, int64_t n)
{
	emit_word(e, 0x04205000u | RM(from) | ((uint32_t)n & 0x3f) << 5 | to);
}

/* ---- what is possible ---- */

/* How to encode an instruction with its address in a register and no offset. The first row that
 * fits says which bits become 0 and which 1. */
static const struct {
	uint32_t mask, value, clear, set;
} forms[] = {
	{ 0xbe800000, 0x0c800000, 0x009f0000, 0 }, /* ld1 … ld4, post-indexed */
	{ 0xbe800000, 0x0c000000, 0, 0 },
	{ 0x3fff7c00, 0x08df7c00, 0, 0 },          /* ldar */
	{ 0x3f200c00, 0x19000000, 0x001ff000, 0 }, /* ldapur */
	{ 0x3b800000, 0x28000000, 0x003f8000, 0 }, /* ldnp */
	/* ldp in all modes becomes ldp with an offset */
	{ 0x3a000000, 0x28000000, 0x01bf8000, 0x01000000 },
	{ 0x3ffffc00, 0x38bfc000, 0, 0 }, /* ldapr */
	/* any ldr becomes ldur, or ldr with the offset zero */
	{ 0x3a000000, 0x38000000, 0x003ffc00, 0 },
	{ 0xfe10e000, 0xa400a000, 0x000f0000, 0 }, /* ld1 of SVE */
	{ 0xfe00e000, 0xa4004000, 0x001fe000, 0x0000a000 },
};

/* Gives the instruction, changed so that it takes its address from the register; 0: that is
 * impossible. */
static uint32_t with_address_in(uint32_t word, uint32_t reg)
{
	for (uint32_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
		if ((word & forms[i].mask) == forms[i].value)
			return (word & ~(forms[i].clear | RN(31u))) | forms[i].set | RN(reg);
	return 0;
}

static bool writes_back(const struct a64 *in)
{
	return in->mode == A64_PRE || in->mode == A64_POST;
}

/* Asks whether the load reads one vector. Elements that a predicate leaves out count as read. */
static bool is_whole_vector(const struct a64 *in)
{
	return in->nregs == 1 && !in->is_structure && in->each_bytes == in->element_bytes;
}

/* Asks whether the architecture leaves open what the instruction does. */
static bool is_unpredictable(const struct a64 *in)
{
	const bool is_pair = in->nregs == 2;

	if (in->is_structure || in->file != A64_GENERAL)
		return in->file == A64_VECTOR && !in->is_structure && is_pair && in->rt == in->rt2;
	return (is_pair && in->rt == in->rt2) ||
	       (writes_back(in) && (in->rt == in->rn || (is_pair && in->rt2 == in->rn)));
}

static bool is_possible(const struct a64 *in)
{
	if (in->kind != A64_LOAD || in->mode == A64_LITERAL || in->rn == SP || is_unpredictable(in))
		return false;
	return in->file == A64_SCALABLE
		       ? is_whole_vector(in)
		       : in->file != A64_PREDICATE && a64_bytes(in, 0, 0) <= DETOUR_MAX_BYTES;
}

static bool uses(const struct a64 *in, uint32_t reg)
{
	if (in->rn == reg || (in->has_index && in->rm == reg))
		return true;
	return in->file == A64_GENERAL && (in->rt == reg || (in->nregs == 2 && in->rt2 == reg));
}

static uint32_t scratch_from(const struct a64 *in, uint32_t reg)
{
	while (uses(in, reg))
		reg++;
	return reg;
}

/* ---- the stub ---- */

static void put_address(struct emitter *e)
{
	const struct a64 *in = &e->in;

	if (in->mode == A64_INDEX)
		emit_word(e, 0x8b200000u | RM((uint32_t)in->rm) | (uint32_t)in->extend << 13 |
				     (uint32_t)in->shift << 10 | RN((uint32_t)in->rn) | e->r);
	else if (in->is_vector_multiple)
		put_add_vectors(e, e->r, in->rn, in->offset);
	else
		put_add(e, e->r, in->rn, in->mode == A64_POST ? 0 : in->offset);
}

/* Emits a test whether the access begins in the window: if not, the code goes to slow. Leaves the
 * distance from the window's start in r. */
static void put_window(struct emitter *e)
{
	put_field(e, &e->lead->start);
	emit_word(e, 0xcb000000u | RM(e->t) | RN(e->r) | e->r);
	put_slow(e, TBNZ_63 | e->r);
	put_field(e, &e->lead->len_bytes);
	emit_word(e, 0xcb000000u | RM(e->t) | RN(e->r) | e->t);
	put_slow(e, TBZ_63 | e->t);
}

/* Emits a test whether any word is marked that begins in the `bytes` bytes from the address on: if
 * so, the code goes to slow. The test may look at some words more. */
static void put_test(struct emitter *e, uint32_t bytes)
{
	uint32_t size = 0;

	while ((MAP_WORD << size) < bytes)
		size++;
	put_field(e, &e->lead->map);
	emit_word(e, 0x8b400000u | RM(e->r) | 3u << 10 | RN(e->t) | e->t); /* add t, t, r, lsr #3 */
	emit_word(e, 0x39400000u | size << 30 | RN(e->t) | e->t);          /* ldrb, ldrh, ldr */
	put_slow(e, CBNZ | e->t);
}

static void put_tests(struct emitter *e)
{
	const uint32_t bytes = a64_bytes(&e->in, 0, 0);

	/* a program may change the length of SVE vectors */
	if (e->in.file == A64_SCALABLE) {
		emit_word(e, 0x04bf5020u | e->t); /* rdvl t, #1 */
		put_add(e, e->t, e->t, -(int64_t)DETOUR_MAX_BYTES - 1);
		put_slow(e, TBZ_63 | e->t);
		put_test(e, DETOUR_MAX_BYTES);
		/* tests the byte behind the vector instead of its last byte, which may be in one
		 * word more */
		put_add_vectors(e, e->r, e->r, 1);
		put_test(e, 1);
		put_add_vectors(e, e->r, e->r, -1);
		return;
	}
	put_test(e, bytes);
	if (bytes == 1)
		return;
	put_add(e, e->r, e->r, bytes - 1);
	put_test(e, 1);
	put_add(e, e->r, e->r, -(int64_t)(bytes - 1));
}

static void put_write_back(struct emitter *e)
{
	const struct a64 *in = &e->in;

	if (writes_back(in) && in->has_index)
		emit_word(e, 0x8b000000u | RM((uint32_t)in->rm) | RN((uint32_t)in->rn) | in->rn);
	else if (writes_back(in))
		put_add(e, in->rn, in->rn, in->offset);
}

bool stub_emit(struct stub *out, uint32_t *code, const struct lead *lead, uint64_t pc,
	       uint32_t word)
{
	struct emitter e = { .at = code, .lead = lead };

	a64_decode(&e.in, word);
	if (!is_possible(&e.in) || !with_address_in(word, 0))
		return false;
	e.r = scratch_from(&e.in, FIRST_SCRATCH);
	e.t = scratch_from(&e.in, e.r + 1);
	emit_word(&e, 0xa9bf0000u | e.t << 10 | RN(SP) | e.r);
	put_address(&e);
	put_window(&e);
	put_tests(&e);
	put_field(&e, &lead->there);
	emit_word(&e, 0x8b000000u | RM(e.t) | RN(e.r) | e.r);
	emit_word(&e, 0xf9400400u | RN(SP) | e.t);
	*out = (struct stub){ .original = pc,
			      .fast = (uint8_t)(e.at - code),
			      .address = (uint8_t)e.r };
	emit_word(&e, with_address_in(word, e.r));
	emit_word(&e, 0xf8410400u | RN(SP) | e.r);
	put_write_back(&e);
	put_branch(&e, pc + 4);
	aim_slow(&e);
	emit_word(&e, 0xa8c10000u | e.t << 10 | RN(SP) | e.r);
	out->slow = (uint8_t)(e.at - code);
	emit_word(&e, word);
	put_branch(&e, pc + 4);
	return true;
}
