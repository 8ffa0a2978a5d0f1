/* Inside the shadow memory. A line has a table of the writes that its bytes still name. Of stores
 * that go through the cache, those up to captured_seq are being written back, and those up to
 * durable_seq are durable; non-temporal ones have a mark of their own. Lines with bytes that a
 * commit variable decides about are in a list, the one that was stored to last at its head.
 *
 *   shadow.c         stores, write-backs, fences: how states change
 *   shadow_ask.c     what they are
 *   shadow_blocks.c  memory that an allocator handed out without content */
#ifndef CRASH_SHADOW_SHADOW_INTERNAL_H
#define CRASH_SHADOW_SHADOW_INTERNAL_H

#include "crash/shadow/shadow.h"
#include "util/map.h"

#define SHADOW_LINE PMT_LINE_BYTES
#define WRITES_MAX 255u /* index 0 is no write; at most 128 are named at a time */

struct write {
	struct shadow_write w;
	uint32_t stream, thread;
	/* non-temporal, or on its way into a cache that survives (eadr on arm64): waits for its
	 * thread's fence */
	bool is_unordered;
	bool is_durable; /* of such a one */
};

struct line {
	uint64_t addr;
	uint64_t captured_seq, durable_seq;
	uint8_t value[SHADOW_LINE];
	uint8_t last[SHADOW_LINE], changed[SHADOW_LINE]; /* index in writes plus 1 */
	uint64_t stored_again;                           /* a bit for each byte */
	VEC(struct write) writes;
	struct line *newer, *older;
	const struct thread *waiter; /* the last thread that waits for it: */
	size_t wait;                 /* index in its waits */
};

/* What waits for a fence of a thread. */
struct wait {
	struct line *line;
	uint64_t upto; /* stores through the cache */
};

struct thread {
	uint32_t stream, number;
	VEC(struct wait) waits;
};

struct shadow {
	VEC(struct wait) open; /* lines of a copy that may not be over: until the next event */
	const struct model *model;
	const struct platform *platform; /* its own */
	struct model_image image;
	struct commits commits;
	struct map by_addr;
	VEC(struct line *) lines;
	VEC(struct thread *) threads; /* few */
	struct line *newest;
	bool has_blocks; /* had some */
	/* in the order of time; those with nothing left to initialise are dropped */
	VEC(struct shadow_block) blocks;
};

static inline struct line *shadow_line(const struct shadow *s, uint64_t addr)
{
	return map_get(&s->by_addr, addr / SHADOW_LINE * SHADOW_LINE);
}

void shadow_blocks_add(struct shadow *s, const struct trace_event *ev, bool is_trusted);

#endif
