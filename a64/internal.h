/* Declares the rules that the table in a64.c names and that are in other files. A rule decodes the
 * bits of the instruction that are not fixed. False: there is no such instruction. */
#ifndef A64_INTERNAL_H
#define A64_INTERNAL_H

#include "a64/a64.h"

#define BITS(word, high, low) ((word) >> (low) & ((2u << ((high) - (low))) - 1))
#define BIT(word, n) ((word) >> (n)&1)

static inline int64_t sign_extend(uint32_t value, uint32_t bits)
{
	return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

/* vector.c: loads and stores of structures of vector registers */
bool a64_structures(struct a64 *out, uint32_t word);
bool a64_structure(struct a64 *out, uint32_t word);

/* scalable.c: SVE loads and stores of contiguous memory */
bool a64_whole(struct a64 *out, uint32_t word);
bool a64_replicate(struct a64 *out, uint32_t word);
bool a64_contiguous_load(struct a64 *out, uint32_t word);
bool a64_contiguous_store(struct a64 *out, uint32_t word);
bool a64_interleaved(struct a64 *out, uint32_t word);
bool a64_quadword(struct a64 *out, uint32_t word);

#endif
