/* A set of bytes, as sorted ranges that neither overlap nor touch. */
#ifndef CHECK_RANGES_H
#define CHECK_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "util/vec.h"

struct range {
	uint64_t from, to; /* `to` is not included */
};

struct ranges {
	VEC(struct range) list;
};

/* Gives these bytes of a PM file as a range, limited to the largest possible offset. */
struct range range_in_file(uint64_t addr, uint64_t len_bytes);

void ranges_release(struct ranges *r);
void ranges_add(struct ranges *r, uint64_t addr, uint64_t len_bytes);
void ranges_remove(struct ranges *r, uint64_t addr, uint64_t len_bytes);
/* are all bytes in the set? */
bool ranges_cover(const struct ranges *r, uint64_t addr, uint64_t len_bytes);
/* is any byte in the set? */
bool ranges_touch(const struct ranges *r, uint64_t addr, uint64_t len_bytes);
/* the first range that ends after addr; NULL if none does */
const struct range *ranges_find(const struct ranges *r, uint64_t addr);
/* Gives the bytes that are in the set as a mask: bit i stands for addr + i. For at most 64
 * bytes. */
uint64_t ranges_mask(const struct ranges *r, uint64_t addr, uint32_t len_bytes);

#endif
