/* Compares numbers, for qsort() and bsearch(). */
#ifndef UTIL_ORDER_H
#define UTIL_ORDER_H

#include <stdint.h>

static inline int order_u64(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static inline int order_u32(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

#endif
