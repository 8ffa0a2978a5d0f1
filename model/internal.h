/* Inside the model: a line and the stores in it that a crash could still lose.
 *
 * Invariants:
 *  1. A line exists while it holds such a store. Its base is what a crash shows when it loses all
 *     of them.
 *  2. Stores are in coherence order, which is that of their seq. What a crash shows in a byte is
 *     the newest store to it that was not lost, else the base.
 *  3. A byte is live in a store as long as a crash could show it: once a newer store to it is
 *     durable, it is not. A store with no live byte is gone.
 *  4. Ordered stores are lost from the newest backwards; of the oldest lost one, some units may
 *     survive. Unordered stores (non-temporal ones that bypass the cache) are lost unit by unit,
 *     independently. On arm64 (is_weak) there is a partial order, and what survives is a set of
 *     units that holds with each unit those before it: partial.c.
 *  5. A pending belongs to one thread and one line: at the thread's next fence, ordered stores up
 *     to `upto` and the thread's own unordered ones become durable. There is at most one. */
#ifndef MODEL_INTERNAL_H
#define MODEL_INTERNAL_H

#include <string.h>
#include "model/model.h"
#include "model/pool.h"
#include "util/alloc.h"
#include "util/map.h"
#include "util/vec.h"

#define STORE_SMALL_BYTES 8u

/* What a store of more than STORE_SMALL_BYTES keeps elsewhere. */
struct store_rest {
	uint64_t live;
	uint8_t bytes[PMT_STORE_MAX_BYTES];
};

/* Small, and without bit fields, which are read before they are written: with many stores, the time
 * goes into waiting for memory. */
struct store {
	const struct trace_site *site;
	uint64_t seq;
	union {
		uint8_t few[STORE_SMALL_BYTES];
		struct store_rest *rest;
	} bytes;
	uint32_t thread;    /* its index in the model */
	uint16_t at;        /* in the line */
	uint8_t size_bytes; /* at most 64 */
	uint8_t kind;
	uint8_t live_few; /* see store_live() */
	/* 0: one unit; else one for each aligned word of so many bytes that it touches */
	uint8_t unit_bytes;
	uint8_t flags; /* enum store_flags */
	/* is_weak: stores of its thread up to epoch - back come before it; 0: all of them */
	uint8_t back;
	uint32_t epoch; /* is_weak: counts what orders the thread's stores */
};
_Static_assert(sizeof(struct store) == 40, "small");

enum store_flags {
	STORE_UNORDERED = 1,
	/* lost or kept together with the next ordered store, which is whole: states were forgotten,
	 * or there are none (write.c) */
	STORE_GLUED = 2,
};
#define MODEL_LINE_BYTES_MAX 512u

struct pending {
	struct pending *in_line;     /* next of the same line */
	struct pending *prev, *next; /* of the same thread */
	struct line *line;
	struct thread *thread;
	uint64_t upto; /* seq of the flush, 0: none */
	const struct trace_site *flush;
};

#define STORES_ROOM(room) ((uint32_t)1 << (room))
#define STORES_ROOMS 28u

struct line {
	uint64_t addr;
	/* oldest first; an array, because they are looked at one after the other, and often */
	struct store *stores;
	struct pending *pendings;
	/* no states are forgotten below the floor: twice what was left the last time */
	uint32_t nstores, floor;
	uint8_t room;  /* of stores: STORES_ROOM(room) */
	bool is_newer; /* base is newer than the image */
	uint8_t base[];
};

struct thread {
	uint32_t stream, number;
	uint32_t index; /* in the model's list */
	struct pending *pendings;
	uint32_t epoch, after; /* is_weak: of its next store, and which epochs that follows */
	uint32_t released;     /* the epoch that its last release ended */
	uint64_t after_seq, released_seq; /* the last events of those epochs */
};

/* The address is here too, so that a search reads no line but the one it is for. */
struct slot {
	uint64_t addr;
	struct line *line;
};

struct model {
	const struct platform *platform;
	unsigned line_shift; /* of platform->line_bytes */
	struct model_image image;
	struct slot *slots;  /* open addressing by address; without line: free */
	size_t nlines, room; /* room is a power of two */
	size_t nstores;      /* in all lines */
	struct arena arena;  /* of the pools and threads */
	struct pool lines, pendings;
	struct pool stores[STORES_ROOMS]; /* arrays, by room */
	unsigned nrooms;                  /* so many of them are used */
	struct pool rests;
	struct map threads;
	VEC(struct thread *) thread_list;
	struct thread *last_thread;
	uint32_t line_stores;                        /* MODEL_LINE_STORES; smaller in a test */
	void (*on_durable)(uint64_t seq, void *arg); /* NULL: nobody asks */
	void *on_durable_arg;
	/* is_cache_durable: parts of a copy, which may be visible in any order until the next
	 * event */
	struct open_store {
		uint64_t addr, len_bytes;
		uint64_t seq; /* 0: there is none */
	} open;
	bool is_exact;
	bool is_arm64, has_lse2; /* the recorded instructions; the trace says so */
	bool is_distrusting;
	uint64_t ntrusted;
};

/* ---- stores.c ---- */

struct store *stores_get(struct model *m, unsigned room);
void stores_move(struct model *m, struct line *l, uint8_t room); /* to an array of another room */
void store_release(struct model *m, const struct store *s);
void line_shrink(struct model *m, struct line *l, uint32_t n);
void line_drop_dead(struct model *m, struct line *l, bool is_forgotten);

/* ---- table.c ---- */

/* of the line that holds addr; NULL if all is durable there */
struct line *line_find(const struct model *m, uint64_t addr);
struct line *line_find_or_add(struct model *m, uint64_t addr);
void line_remove(struct model *m, struct line *l);
/* The pending of a thread in a line, NULL if there is none. */
struct pending *line_pending(const struct line *l, const struct thread *t);

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

/* ---- coalesce.c ---- */

void line_coalesce(struct model *m, struct line *l);

/* at[i] is lost or kept with the next store from now on, of n. */
void store_glue(struct store *at, size_t i, size_t n);

/* ---- write.c ---- */

void step_write(struct model *m, const struct thread *t, const struct trace_event *ev);

/* ---- old.c ---- */

void step_old(struct model *m, const struct trace_event *ev);

/* ---- partial.c ---- */

/* Distinct values of some bytes of a line, sorted; nlost: how many units are lost at least. */
struct contents {
	VEC(uint8_t) bytes;
	VEC(uint32_t) nlost;
	size_t n;
	uint32_t stride;    /* while they are listed: of a row of bytes */
	uint64_t ndistinct; /* also those that are not listed; UINT64_MAX: not known */
	uint64_t asked;     /* of partial_contents() */
	bool is_partial;
};
void contents_release(struct contents *c);
/* The distinct values of bytes [from, to) of a line, sorted. `out` is used again and again, and
 * released by its owner. */
void partial_list(const struct model *m, const struct line *l, uint32_t from, uint32_t to,
		  struct contents *out);
/* The distinct contents of a line; where there are more than `max`, those that differ in some
 * bytes: of all that agree in them, the one that loses least. */
void partial_contents(const struct model *m, const struct line *l, size_t max, uint64_t asked,
		      struct contents *out);
/* The number of distinct contents of a line; UINT64_MAX: not known. */
uint64_t partial_ncontents(const struct model *m, const struct line *l);
/* The units that survive where a crash shows this content and loses least: f for each store that
 * loses some. False: it cannot show it. */
bool partial_each_lost(const struct model *m, const struct line *l, const uint8_t *content,
		       void (*f)(const struct store *s, bool is_partly, bool is_free, void *arg),
		       void *arg);

/* ---- units.c ---- */

uint8_t arm64_unit_bytes(const struct model *m, const struct trace_event *ev);
uint8_t x86_unit_bytes(const struct platform *p, const struct trace_event *ev);

/* ---- line.c ---- */

/* Appends what of a store lies in the line: ev's bytes from `skip` on. */
void line_add_store(struct model *m, struct line *l, const struct thread *t,
		    const struct trace_event *ev, uint32_t skip, uint32_t size_bytes);
/* Ordered stores up to `upto`, and the unordered ones of a thread, are durable now; the line may be
 * gone afterwards. */
void line_persist(struct model *m, struct line *l, uint64_t upto,
		  const struct thread *unordered_of);

/* ---- model.c ---- */

uint64_t thread_key(uint32_t stream, uint32_t thread); /* in the model's map */
struct thread *thread_find(const struct model *m, uint32_t stream, uint32_t thread);
/* What a thread has pending in a line, if need be a new one. */
struct pending *pending_add(struct model *m, struct line *l, struct thread *t);

/* ---- inline ---- */

/* The cache survives, but the order in which stores reach it is open (eadr on arm64). */
static inline bool is_late(const struct model *m)
{
	return m->is_arm64 && m->platform->is_cache_durable;
}

static inline bool is_partial_order(const struct model *m)
{
	return m->platform->is_weak || is_late(m);
}

/* See struct store. Inside an aligned word, all processors of amd64 agree. */
static inline uint8_t store_unit_bytes(const struct model *m, const struct trace_event *ev)
{
	if (is_partial_order(m))
		return arm64_unit_bytes(m, ev);
	return (ev->addr & 7) + ev->size_bytes <= 8 && ev->kind != PMT_STORE_VECTOR
		       ? 0
		       : x86_unit_bytes(m->platform, ev);
}

static inline bool is_release(const struct trace_event *ev)
{
	return ev->kind == PMT_STORE_RMW ||
	       (ev->kind == PMT_STORE_ORDERED && (ev->arg[0] & PMT_ORDER_RELEASE));
}

static inline bool store_is_unordered(const struct store *s)
{
	return s->flags & STORE_UNORDERED;
}

static inline bool store_is_glued(const struct store *s)
{
	return s->flags & STORE_GLUED;
}

static inline void tell_durable(const struct model *m, uint64_t seq)
{
	if (m->on_durable)
		m->on_durable(seq, m->on_durable_arg);
}

static inline uint64_t line_start(const struct model *m, uint64_t addr)
{
	return addr & ~(uint64_t)(m->platform->line_bytes - 1);
}

static inline uint64_t low_bits(uint32_t n)
{
	return n >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1;
}

static inline const struct store *line_end(const struct line *l)
{
	return l->stores + l->nstores;
}

static inline const uint8_t *store_bytes(const struct store *s)
{
	return s->size_bytes <= STORE_SMALL_BYTES ? s->bytes.few : s->bytes.rest->bytes;
}

/* Bit i: a crash could show the byte at + i. */
static inline uint64_t store_live(const struct store *s)
{
	return s->size_bytes <= STORE_SMALL_BYTES ? s->live_few : s->bytes.rest->live;
}

static inline void store_set_live(struct store *s, uint64_t live)
{
	if (s->size_bytes <= STORE_SMALL_BYTES)
		s->live_few = (uint8_t)live;
	else
		s->bytes.rest->live = live;
}

/* Which bytes of s lie in [from, to) of its line. */
static inline uint64_t store_bits(const struct store *s, uint32_t from, uint32_t to)
{
	uint32_t end = (uint32_t)s->at + s->size_bytes;

	if (from < s->at)
		from = s->at;
	if (to > end)
		to = end;
	return from < to ? low_bits(to - from) << (from - s->at) : 0;
}

/* Which bytes of s a newer store covers. */
static inline uint64_t store_covered(const struct store *s, const struct store *newer)
{
	return store_bits(s, newer->at, (uint32_t)newer->at + newer->size_bytes);
}

/* for qsort_r: rows of so many bytes (a uint32_t) */
static inline int row_compare(const void *a, const void *b, void *stride)
{
	return memcmp(a, b, *(uint32_t *)stride);
}

#endif
