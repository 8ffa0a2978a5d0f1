/* Decodes A64 instructions that access memory: what they do, with which registers, and how many
 * bytes. Freestanding and without state, so it can be called in a signal handler and without a C
 * library. It knows loads, stores and atomics of general, vector and SVE registers (only contiguous
 * SVE accesses), and operations on the data cache. Everything else is A64_OTHER: arithmetic, but
 * also gathers, memory tags, MOPS and later extensions. Nothing is guessed.
 *
 * For example, `str x1, [x2, #16]` is kind A64_STORE, mode A64_OFFSET, rt 1, rn 2, offset 16,
 * each_bytes 8. */
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
	A64_ATOMIC,   /* reads and writes in one instruction: ldadd, swp, cas, casp */
	A64_PREFETCH, /* never faults */
	A64_FLUSH,    /* dc cvac, cvap, …: the line that contains the address */
	A64_CLEAR,    /* dc zva: a block whose size the processor tells */
};

enum a64_file { A64_GENERAL, A64_VECTOR, A64_SCALABLE, A64_PREDICATE };

enum a64_mode {
	A64_OFFSET, /* base + offset */
	A64_PRE,    /* base + offset, which also becomes the new base */
	/* base; afterwards the base becomes base + offset, or base + rm if has_index */
	A64_POST,
	A64_INDEX,   /* base + rm, which is extended and shifted */
	A64_LITERAL, /* the instruction's own address + offset */
};

#define A64_ZERO 31u /* rn 31 is the stack pointer; other registers 31 are zero */

struct a64 {
	enum a64_kind kind;
	enum a64_file file;
	enum a64_mode mode;
	/* the registers that are loaded or stored: rt and rt2, or nregs registers from rt on if
	 * is_structure; of cas, the value to store */
	uint8_t rt, rt2;
	uint8_t nregs;
	uint8_t rn, rm; /* base, index */
	/* the result of stxr, the operand of an atomic, the value that cas compares with */
	uint8_t rs;
	uint8_t pg; /* the predicate, for scalable accesses with element_bytes */
	/* bytes in memory of each register; of structures and scalable accesses, of each element */
	uint8_t each_bytes;
	uint8_t to_bytes; /* bytes of a general register that is loaded: 4 or 8 */
	/* of scalable accesses: bytes of an element in the register; 0: the whole register without
	 * a predicate */
	uint8_t element_bytes;
	/* of structures: elements in each register; of scalable accesses: elements, if their number
	 * does not depend on the vector length */
	uint8_t nelements;
	bool is_signed; /* the loaded value is sign-extended */
	/* elements of several registers are interleaved, or follow each other, in memory; or it is
	 * a single element; or one element goes to all lanes */
	bool is_structure;
	bool is_hinted; /* ldnp, stnp, ldnt1, stnt1 */
	bool acquires, releases;
	bool has_index; /* rm is used as the index */
	uint8_t extend; /* how rm is extended: 2 uxtw, 3 none, 6 sxtw, 7 none */
	uint8_t shift;
	/* the offset counts vector lengths (`mul vl`), not bytes */
	bool is_vector_multiple;
	int64_t offset;
};

void a64_decode(struct a64 *out, uint32_t word);

/* Gives how many bytes the instruction may access, from its address on; 0 for flushes and
 * prefetches. vector_bytes is the size of an SVE register, clear_bytes how many bytes dc zva
 * clears. */
uint32_t a64_bytes(const struct a64 *in, uint32_t vector_bytes, uint32_t clear_bytes);

/* Gives the signed field that has `bits` bits and begins at bit `low`. */
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
