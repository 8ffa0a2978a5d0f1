/* Finds the store that belongs to an exclusive load in the program's code. Compilers and libraries
 * write: load, compare, branch away, compute, store, branch back. All but the last branch is
 * stepped as one piece. Code of another form is not stepped. */
#include "exclusive.h"

#include "arch.h"

#define BITS(word, high, low) ((word) >> (low) & ((2u << ((high) - (low))) - 1))

/* The branch instructions that have a displacement, and its length in bits; it begins at bit 5. */
static const struct {
	uint32_t mask, value, bits; /* of the displacement */
} branches[] = {
	{ 0xff000010, 0x54000000, 19 }, /* b.cond */
	{ 0x7e000000, 0x34000000, 19 }, /* cbz, cbnz */
	{ 0x7e000000, 0x36000000, 14 }, /* tbz, tbnz */
};

static uint32_t displacement_bits(uint32_t word)
{
	for (uint32_t i = 0; i < sizeof branches / sizeof branches[0]; i++)
		if ((word & branches[i].mask) == branches[i].value)
			return branches[i].bits;
	return 0;
}

bool branch_read(uint32_t word, int64_t *displacement)
{
	const uint32_t bits = displacement_bits(word);

	if (bits == 0)
		return false;
	*displacement = (int64_t)((uint64_t)word << (64 - 5 - bits)) >> (64 - bits);
	*displacement *= 4;
	return true;
}

uint32_t branch_to(uint32_t word, int64_t displacement)
{
	const uint32_t mask = ((1u << displacement_bits(word)) - 1) << 5;

	return (word & ~mask) | ((uint32_t)(displacement / 4) << 5 & mask);
}

/* Asks whether the instruction is arithmetic of registers and constants that does not change
 * `base`. The number of the result register is in the lowest five bits. Comparisons have something
 * else there; at worst, such a piece of code is not recognised. */
static bool is_arithmetic(uint32_t word, uint32_t base)
{
	const uint32_t group = BITS(word, 28, 25);
	/* adr, adrp: their results depend on their own address */
	const bool is_address = BITS(word, 28, 24) == 0x10;

	return ((group & 7) == 5 || (group & 7) == 7 || ((group & 14) == 8 && !is_address)) &&
	       BITS(word, 4, 0) != base;
}

static bool is_store_of(const struct a64 *store, const struct a64 *load)
{
	return store->kind == A64_STORE_EXCLUSIVE && store->rn == load->rn &&
	       store->nregs == load->nregs && store->each_bytes == load->each_bytes;
}

/* Reads and decodes the instruction at pc; false: it is not readable. */
static bool fetch(uint64_t pc, uint32_t *word, struct a64 *a)
{
	if (gate_copy(word, (const void *)pc, sizeof *word) != 0)
		return false;
	a64_decode(a, *word);
	return true;
}

/* Asks whether the code to which a branch leaves contains another store for the same load. That
 * store would never succeed, since the load was stepped together with the first store. */
static bool leads_to_store(uint64_t pc, const struct a64 *load)
{
	for (uint32_t n = 0; n < EXCLUSIVE_MAX; n++) {
		uint32_t word;
		struct a64 a;

		/* br, blr, ret */
		if (!fetch(pc, &word, &a) || a.kind == A64_LOAD_EXCLUSIVE ||
		    BITS(word, 31, 25) == 0x6b)
			return false;
		if (a.kind == A64_STORE_EXCLUSIVE && a.rn == load->rn)
			return true;
		if (BITS(word, 30, 26) == 5) /* b, bl */
			pc += (uint64_t)((int64_t)((uint64_t)word << 38) >> 36);
		else
			pc += 4;
	}
	return false;
}

/* Asks whether all branches among the n instructions lead forward: to one of these instructions, or
 * to code that has no store for this load. */
static bool are_branches_good(uint64_t pc, uint32_t n, const struct a64 *load)
{
	for (uint32_t i = 1; i < n; i++) {
		int64_t displacement, to;
		uint32_t word;
		struct a64 a;

		if (!fetch(pc + 4 * i, &word, &a))
			return false;
		if (!branch_read(word, &displacement))
			continue;
		to = 4 * (int64_t)i + displacement;
		if (to > 0 && to <= 4 * (int64_t)i) /* a loop within the piece */
			return false;
		if ((to < 0 || to >= 4 * (int64_t)n) && leads_to_store(pc + (uint64_t)to, load))
			return false;
	}
	return true;
}

uint32_t exclusive_length(const struct a64 *load, uint64_t pc)
{
	if (load->rn == A64_ZERO || load->rt == load->rn ||
	    (load->nregs == 2 && (load->rt2 == load->rn || load->rt2 == load->rt)))
		return 0;
	for (uint32_t n = 1; n < EXCLUSIVE_MAX; n++) {
		int64_t displacement;
		uint32_t word;
		struct a64 a;

		if (!fetch(pc + 4 * n, &word, &a))
			return 0;
		if (is_store_of(&a, load))
			return are_branches_good(pc, n + 1, load) ? n + 1 : 0;
		if (a.kind != A64_OTHER ||
		    (!branch_read(word, &displacement) && !is_arithmetic(word, load->rn)))
			return 0;
	}
	return 0;
}
