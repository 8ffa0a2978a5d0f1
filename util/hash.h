/* Hashes of text and of numbers. */
#ifndef UTIL_HASH_H
#define UTIL_HASH_H

#include <stdint.h>

/* Hashes a text. The result is the same in every version of pmend, because the ids of bugs are made
 * from it. */
uint64_t hash_text(const char *text);

/* Adds a number to a hash: hash_mix(hash_mix(seed, a), b). */
static inline uint64_t hash_mix(uint64_t h, uint64_t value)
{
	h = (h ^ value) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

#endif
