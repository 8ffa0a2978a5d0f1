/* A64 instructions that access memory: what they do there, with which registers, and how many
 * bytes. Freestanding and without state: it may be called in a signal handler, and in programs
 * without a C library. Known are loads, stores and atomics of general, vector and SVE registers
 * (contiguous ones only), and what acts on the data cache. All else is A64_OTHER: arithmetic as
 * well as gathers, memory tags, MOPS, and whatever was added later. Nothing is guessed. */
#ifndef A64_A64_H
#define A64_A64_H

#include <stdbool.h>
#include <stdint.h>

enum a64_kind {
	A64_OTHER,
	A64_LOAD,
	A64_STORE,
	A64_LOAD_EXCLUSIVE,
	A64_STORE_EXCLUSIVE,
	A64_ATOMIC,   /* reads and writes at once: ldadd, swp, cas, casp */
	A64_PREFETCH, /* never faults */
	A64_FLUSH,    /* dc cvac, cvap, … of the line that holds the address */
	A64_CLEAR,    /* dc zva: of a block whose size the processor tells */
};

enum a64_file { A64_GENERAL, A64_VECTOR, A64_SCALABLE, A64_PREDICATE };

enum a64_mode {
	A64_OFFSET,  /* base + offset */
	A64_PRE,     /* the same, and the base becomes that */
	A64_POST,    /* base; then it becomes base + offset, or base + rm if has_index */
	A64_INDEX,   /* base + rm, extended and shifted */
	A64_LITERAL, /* the instruction's own address + offset */
};

#define A64_ZERO 31u /* as rn: the stack pointer; elsewhere: zero */

struct a64 {
	enum a64_kind kind;
	enum a64_file file;
	enum a64_mode mode;
	/* the registers that are loaded or stored: rt and rt2, or nregs from rt on if is_structure.
	 * Of cas: what is stored */
	uint8_t rt, rt2;
	uint8_t nregs;
	uint8_t rn, rm; /* base, index */
	/* of stxr its result, of atomics the operand, of cas what it compares with */
	uint8_t rs;
	uint8_t pg; /* the predicate; only of scalable ones with element_bytes */
	/* in memory, of each register; of structures and scalable ones: of each element */
	uint8_t each_bytes;
	uint8_t to_bytes; /* of a general register that is loaded: 4 or 8 */
	/* of scalable ones: in the register; 0: the whole register, no predicate */
	uint8_t element_bytes;
	/* of structures: in each register. Of scalable ones: if the vector's length does not
	 * matter */
	uint8_t nelements;
	bool is_signed; /* what is loaded is extended so */
	/* elements of several registers follow each other in memory; or one element; or all
	 * elements become one */
	bool is_structure;
	bool is_hinted; /* ldnp, stnp, ldnt1, stnt1 */
	bool acquires, releases;
	bool has_index; /* rm is used */
	uint8_t extend; /* of rm: 2 uxtw, 3 none, 6 sxtw, 7 none */
	uint8_t shift;
	/* the offset counts accesses of this size (`mul vl`), not bytes */
	bool is_vector_multiple;
	int64_t offset;
};

void a64_decode(struct a64 *out, uint32_t word);

/* How many bytes from its address on it may access. vector_bytes: of an SVE register; clear_bytes:
 * of dc zva. Flushes and prefetches: 0. */
uint32_t a64_bytes(const struct a64 *in, uint32_t vector_bytes, uint32_t clear_bytes);

/* A signed field of so many bits from bit `low` on. */
static inline int64_t a64_field(uint32_t word, unsigned low, unsigned bits)
{
	return (int64_t)((uint64_t)word << (64 - low - bits)) >> (64 - bits);
}

static inline bool a64_reads(const struct a64 *in)
{
	return in->kind == A64_LOAD || in->kind == A64_LOAD_EXCLUSIVE || in->kind == A64_ATOMIC;
}

static inline bool a64_writes(const struct a64 *in)
{
	return in->kind == A64_STORE || in->kind == A64_STORE_EXCLUSIVE || in->kind == A64_ATOMIC ||
	       in->kind == A64_CLEAR;
}

#endif
