/* How the shadow memory keeps its state. A line has a table of the writes to which its bytes still
 * refer. Of its stores through the cache, those up to durable_seq are durable, and those up to
 * captured_seq are being written back. Non-temporal stores have their own flag. Lines with bytes
 * that a commit variable decides about are in a list, the one stored to last at its head.
 *
 *	stores at events     10   12   15   18        captured_seq 15, durable_seq 12
 *	their states         durable   pending  dirty
 *
 *   shadow.c         stores, write-backs, fences: how states change
 *   shadow_ask.c     questions about the states
 *   shadow_blocks.c  memory that an allocator gave out uninitialised */
#ifndef CRASH_SHADOW_SHADOW_INTERNAL_H
#define CRASH_SHADOW_SHADOW_INTERNAL_H

#include "crash/shadow/shadow.h"
#include "util/map.h"

#define SHADOW_LINE PMT_LINE_BYTES
#define WRITES_MAX 255u /* index 0 is no write; bytes refer to at most 128 at a time */

struct write {
	struct shadow_write w;
	uint32_t stream, thread;
	/* non-temporal, or on its way into a cache that survives (eadr on arm64): durable at its
	 * thread's next fence */
	bool is_unordered;
	bool is_durable; /* only for unordered writes */
};

struct line {
	uint64_t addr;
	uint64_t captured_seq, durable_seq;
	uint8_t value[SHADOW_LINE];
	uint8_t last[SHADOW_LINE], changed[SHADOW_LINE]; /* index in writes plus 1; 0: none */
	uint64_t stored_again;                           /* one bit per byte */
	VEC(struct write) writes;
	struct line *newer, *older;
	const struct thread *waiter; /* the last thread whose fence this line waits for */
	size_t wait;                 /* index in the waits of that thread */
};

/* A line that waits for a thread's fence. */
struct wait {
	struct line *line;
	uint64_t upto; /* which stores through the cache the fence completes */
};

struct thread {
	uint32_t stream, number;
	VEC(struct wait) waits;
};

struct shadow {
	/* lines of a kernel copy that may still go on: until the next event */
	VEC(struct wait) open;
	const struct model *model;
	const struct platform *platform; /* the model's platform */
	struct model_image image;
	struct commits commits;
	struct map by_addr;
	VEC(struct line *) lines;
	VEC(struct thread *) threads; /* few */
	struct line *newest;
	bool has_blocks; /* the allocator has announced blocks */
	/* in the order of allocation; completely initialised ones are dropped */
	VEC(struct shadow_block) blocks;
};

static inline struct line *shadow_line(const struct shadow *s, uint64_t addr)
{
	return map_get(&s->by_addr, addr / SHADOW_LINE * SHADOW_LINE);
}

void shadow_blocks_add(struct shadow *s, const struct trace_event *ev, bool is_trusted);

#endif
