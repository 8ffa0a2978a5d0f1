/* Encodes branches, and maps memory within their reach of 128 MiB. */
#ifndef RUNTIME_ARCH_ARM64_NEAR_H
#define RUNTIME_ARCH_ARM64_NEAR_H

#include <stdbool.h>
#include <stdint.h>

#define NEAR_STEP (64ul << 10) /* the size of the largest page */

/* Maps memory below `site`; len_bytes is a multiple of NEAR_STEP. 0: there is none. */
uint64_t near_map(uint64_t site, uint64_t len_bytes, int prot);
bool near_reaches(uint64_t from, uint64_t to);

/* Encodes `b to`, for the address `at`. */
static inline uint32_t near_branch(uint64_t at, uint64_t to)
{
	return 0x14000000u | ((uint32_t)((to - at) >> 2) & 0x3ffffff);
}

#endif
