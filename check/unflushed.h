/* Bytes that were not written back yet, by the instruction that stored them. Zero-initialised is
 * empty. */
#ifndef CHECK_UNFLUSHED_H
#define CHECK_UNFLUSHED_H

#include "check/ranges.h"
#include "trace/trace.h"
#include "util/vec.h"

struct unflushed_site {
	const struct trace_site *site;
	uint64_t seq; /* seq and site of its first store that was not written back */
	uint32_t stream, thread;
	struct ranges bytes;
};

struct unflushed {
	VEC(struct unflushed_site) sites;
};

void unflushed_release(struct unflushed *u);
void unflushed_clear(struct unflushed *u);
/* adds the bytes of a store */
void unflushed_add(struct unflushed *u, const struct trace_event *ev);
/* removes bytes that were written back */
void unflushed_remove(struct unflushed *u, uint64_t addr, uint64_t len_bytes);
/* is one of these bytes in the set? */
bool unflushed_touch(const struct unflushed *u, const struct ranges *bytes);

#endif
