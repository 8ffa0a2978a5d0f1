/* A set of bytes, as sorted ranges that neither overlap nor touch. */
#ifndef CHECK_RANGES_H
#define CHECK_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "util/vec.h"

struct range {
	uint64_t from, to; /* to is not in it */
};

struct ranges {
	VEC(struct range) list;
};

void ranges_release(struct ranges *r);
void ranges_add(struct ranges *r, uint64_t addr, uint64_t len_bytes);
void ranges_remove(struct ranges *r, uint64_t addr, uint64_t len_bytes);
bool ranges_cover(const struct ranges *r, uint64_t addr, uint64_t len_bytes);	/* all of them */
bool ranges_touch(const struct ranges *r, uint64_t addr, uint64_t len_bytes); /* any of them */

#endif
