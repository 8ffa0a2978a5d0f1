/* Inside the model: a line and the stores in it that a crash could still lose.
 *
 * Invariants:
 *  1. A line exists while it holds such a store. Its base is what a crash shows when it loses all of them.
 *  2. Stores are in coherence order, which is that of their seq. What a crash shows in a byte is the newest store to it that
 *     was not lost, else the base.
 *  3. A byte is live in a store as long as a crash could show it: once a newer store to it is durable, it is not.
 *     A store with no live byte is gone.
 *  4. Ordered stores are lost from the newest backwards; of the oldest lost one, some units may survive. Unordered stores
 *     (non-temporal ones that bypass the cache) are lost unit by unit, independently.
 *  5. A pending belongs to one thread and one line: at the thread's next fence, ordered stores up to `upto` and the thread's
 *     own unordered ones become durable. There is at most one. */
#ifndef MODEL_LINE_H
#define MODEL_LINE_H

#include "model/model.h"
#include "util/alloc.h"
#include "util/map.h"
#include "util/vec.h"

struct store {
	struct store *next; /* newer */
	const struct trace_site *site;
	struct thread *thread;
	uint64_t seq;
	uint64_t live;	   /* bit i: byte at + i */
	uint16_t at;	   /* in the line */
	uint8_t size_bytes; /* at most 64 */
	uint8_t kind;
	bool is_unordered;
	bool is_whole; /* one unit; else one for each aligned 8-byte word it touches */
	bool is_glued; /* lost or kept together with the next ordered store, which is whole: states were forgotten */
	uint8_t bytes[];
};

#define STORE_SMALL_BYTES 8u

struct pending {
	struct pending *in_line;     /* next of the same line */
	struct pending *prev, *next; /* of the same thread */
	struct line *line;
	struct thread *thread;
	uint64_t upto; /* seq of the flush, 0: none */
	const struct trace_site *flush;
};

struct line {
	uint64_t addr;
	struct store *oldest, *newest;
	struct pending *pendings;
	uint32_t nstores, floor; /* no states are forgotten below the floor: twice what was left the last time */
	bool is_newer;		 /* base is newer than the image */
	uint8_t base[];
};

struct thread {
	uint32_t stream, number;
	struct pending *pendings;
	uint64_t nwaits;    /* flushes and non-temporal stores since the last fence */
	uint64_t fence_seq; /* of the last fence, 0: none */
};

/* Things of one size, reused. */
struct pool {
	size_t size_bytes;
	void *unused;
};

struct model {
	const struct platform *platform;
	struct model_image image;
	struct line **slots; /* open addressing by address; NULL is free */
	size_t nlines, room; /* room is a power of two */
	size_t nstores;	     /* in all lines */
	struct arena arena; /* of the pools and threads */
	struct pool lines, small_stores, stores, pendings;
	struct map threads;
	struct thread *last_thread;
	VEC(struct store *) scratch;
	uint32_t line_stores; /* MODEL_LINE_STORES; smaller in a test */
	bool is_exact;
};

/* ---- line.c ---- */

void *pool_get(struct model *m, struct pool *p);
void pool_put(struct pool *p, void *thing);

struct line *line_find(const struct model *m, uint64_t addr); /* of the line that holds addr; NULL if all is durable there */
struct line *line_find_or_add(struct model *m, uint64_t addr);
void line_remove(struct model *m, struct line *l);

struct store *line_add_store(struct model *m, struct line *l, struct thread *t, const struct trace_event *ev, uint32_t skip,
			     uint32_t size_bytes);
/* Ordered stores up to `upto`, and the unordered ones of a thread, are durable now; the line may be gone afterwards. */
void line_persist(struct model *m, struct line *l, uint64_t upto, const struct thread *unordered_of);
void line_coalesce(struct model *m, struct line *l);

/* Lines that touch a range, in order of address. The line at hand may be removed. */
struct line_walk {
	const struct model *model;
	uint64_t addr, nleft; /* a short range is looked up line by line */
	struct line **at;     /* a long one is collected and sorted */
	size_t n, i;
	bool is_long;
};
void line_walk_init(struct line_walk *w, const struct model *m, uint64_t addr, uint64_t len_bytes);
struct line *line_walk_next(struct line_walk *w); /* NULL at the end */
void line_walk_release(struct line_walk *w);

/* The pending of a thread in a line, NULL if there is none. */
struct pending *line_pending(const struct line *l, const struct thread *t);
struct thread *thread_find(const struct model *m, uint32_t stream, uint32_t thread);

/* ---- inline ---- */

static inline uint64_t line_start(const struct model *m, uint64_t addr)
{
	return addr & ~(uint64_t)(m->platform->line_bytes - 1);
}

static inline uint64_t low_bits(uint32_t n)
{
	return n >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1;
}

/* Which bytes of s lie in [from, to) of its line. */
static inline uint64_t store_bits(const struct store *s, uint32_t from, uint32_t to)
{
	uint32_t end = s->at + s->size_bytes;

	if (from < s->at)
		from = s->at;
	if (to > end)
		to = end;
	return from < to ? low_bits(to - from) << (from - s->at) : 0;
}

/* Which bytes of s a newer store covers. */
static inline uint64_t store_covered(const struct store *s, const struct store *newer)
{
	return store_bits(s, newer->at, newer->at + newer->size_bytes);
}

#endif
