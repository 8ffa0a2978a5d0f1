/* The inside of the model: lines, and in each line the stores that a crash could still lose.
 *
 * For example, a = 1; a = 2; clwb(&a); a = 3 leaves a line with the stores 1, 2, 3 to a. Its base
 * is what a was before. A crash may show the base, 1, 2 or 3. The next fence makes 1 and 2 durable
 * (the flush came before 3): the base becomes 2, and the line keeps the store 3.
 *
 * Invariants:
 *  1. A line exists while it has such a store. A crash that loses all these stores shows the
 * line's base.
 *
 *  2. Stores are in coherence order, which is the order of their seq. In each byte, a crash shows
 * the newest store to it that was not lost, or else the base.
 *
 *  3. A byte of a store is live as long as a crash could show it: until a newer store to it is
 * durable. A store without live bytes is removed.
 *
 *  4. Ordered stores are lost from the newest backwards; of the oldest lost store, some units may
 * survive. Unordered stores (non-temporal ones, which bypass the cache) are lost unit by unit,
 * independently. On arm64 (is_weak) the order is partial: what survives is a set of units that
 * contains, with each unit, all those before it (partial.c).
 *
 *  5. A pending belongs to one thread and one line. At the thread's next fence, ordered stores up
 * to `upto` and the thread's own unordered ones become durable. A thread has at most one pending
 * per line. */
#ifndef MODEL_INTERNAL_H
#define MODEL_INTERNAL_H

#include <string.h>
#include "model/model.h"
#include "model/pool.h"
#include "util/alloc.h"
#include "util/map.h"
#include "util/vec.h"

#define STORE_SMALL_BYTES 8u

/* The bytes of a store that has more than STORE_SMALL_BYTES. */
struct store_rest {
	uint64_t live;
	uint8_t bytes[PMT_STORE_MAX_BYTES];
};

/* A store in a line. Small, and without bit-fields, which must be read before they are written:
 * with many stores, most time is spent waiting for memory. */
struct store {
	const struct trace_site *site;
	uint64_t seq;
	union {
		uint8_t few[STORE_SMALL_BYTES];
		struct store_rest *rest;
	} bytes;
	uint32_t thread;    /* index in the model's thread_list */
	uint16_t at;        /* offset in the line */
	uint8_t size_bytes; /* at most 64 */
	uint8_t kind;
	uint8_t live_few; /* live bytes of a small store; see store_live() */
	/* 0: the store is one unit; else each aligned word of so many bytes that it touches is a
	 * unit */
	uint8_t unit_bytes;
	uint8_t flags; /* enum store_flags */
	/* is_weak: its thread's stores up to epoch - back come before it; 0: all of them do */
	uint8_t back;
	uint32_t epoch; /* is_weak: counts what orders the thread's stores */
};
_Static_assert(sizeof(struct store) == 40, "small");

enum store_flags {
	STORE_UNORDERED = 1,
	/* lost or kept together with the next ordered store, which then is one unit: states in
	 * between were forgotten, or do not exist (write.c) */
	STORE_GLUED = 2,
};

struct pending {
	struct pending *in_line;     /* next pending of the same line */
	struct pending *prev, *next; /* other pendings of the same thread */
	struct line *line;
	struct thread *thread;
	uint64_t upto; /* seq of the flush; 0 if there was none (non-temporal stores) */
	const struct trace_site *flush;
};

#define STORES_ROOM(room) ((uint32_t)1 << (room))
#define STORES_ROOMS 28u

struct line {
	uint64_t addr;
	/* oldest first; an array, because they are often looked at one after the other */
	struct store *stores;
	struct pending *pendings;
	/* floor: the line forgets states only when it has at least so many stores; this is twice
	 * the number of stores that were left when the line last forgot states */
	uint32_t nstores, floor;
	uint8_t room;  /* room of the array stores: STORES_ROOM(room) */
	bool is_newer; /* base differs from the image */
	uint8_t base[];
};

struct thread {
	uint32_t stream, number;
	uint32_t index; /* in the model's thread_list */
	struct pending *pendings;
	/* is_weak: epoch of its next store, and the epoch that this store follows */
	uint32_t epoch, after;
	uint32_t released;                /* the epoch that its last release ended */
	uint64_t after_seq, released_seq; /* seq of the last events of those epochs */
};

/* A slot of the table of lines. It contains the address, so a search reads no other line. */
struct slot {
	uint64_t addr;
	struct line *line;
};

struct model {
	const struct platform *platform;
	unsigned line_shift; /* log2 of platform->line_bytes */
	struct model_image image;
	struct slot *slots;  /* open addressing by address; free if line is NULL */
	size_t nlines, room; /* room is a power of two */
	size_t nstores;      /* in all lines */
	/* the one stored to last, as programs store to a line several times in a row; or NULL */
	struct line *recent;
	struct arena arena; /* of pools and threads */
	struct pool lines, pendings;
	struct pool stores[STORES_ROOMS]; /* arrays of stores, by room */
	unsigned nrooms;                  /* how many of these are used */
	struct pool rests;
	struct map threads;
	VEC(struct thread *) thread_list;
	struct thread *last_thread;
	uint32_t line_stores;                        /* MODEL_LINE_STORES, or fewer in a test */
	void (*on_durable)(uint64_t seq, void *arg); /* NULL if not wanted */
	void *on_durable_arg;
	/* is_cache_durable: a copy in progress, whose parts may become visible in any order until
	 * the next event */
	struct open_store {
		uint64_t addr, len_bytes;
		uint64_t seq; /* 0 if there is none */
	} open;
	bool is_exact;
	/* from the trace: which instructions were recorded, and whether the machine has LSE2 */
	bool is_arm64, has_lse2;
	bool is_distrusting;
	uint64_t ntrusted;
};

/* ---- stores.c ---- */

struct store *stores_get(struct model *m, unsigned room);
/* Moves the line's stores to another array, which has room for STORES_ROOM(room) stores. */
void stores_move(struct model *m, struct line *l, uint8_t room);
void store_release(struct model *m, const struct store *s);
void line_shrink(struct model *m, struct line *l, uint32_t n);
void line_drop_dead(struct model *m, struct line *l, bool is_forgotten);

/* ---- table.c ---- */

/* Finds the line that contains addr; NULL if everything is durable there. */
struct line *line_find(const struct model *m, uint64_t addr);
struct line *line_find_or_add(struct model *m, uint64_t addr);
void line_remove(struct model *m, struct line *l);
/* Finds the struct pending with what this thread has pending in the line; NULL if there is none. */
struct pending *line_pending(const struct line *l, const struct thread *t);

/* Walks lines that touch a range, in order of address. The current line may be removed. */
struct line_walk {
	const struct model *model;
	uint64_t addr, nleft; /* a short range is looked up line by line */
	struct line **at;     /* the lines of a long range are collected and sorted */
	size_t n, i;
	bool is_long;
};
void line_walk_init(struct line_walk *w, const struct model *m, uint64_t addr, uint64_t len_bytes);
struct line *line_walk_next(struct line_walk *w); /* NULL at the end */
void line_walk_release(struct line_walk *w);

/* ---- coalesce.c ---- */

void line_coalesce(struct model *m, struct line *l);

/* Joins at[i] with the next of the n stores: a crash loses both or none. */
void store_glue(struct store *at, size_t i, size_t n);

/* ---- write.c ---- */

void step_write(struct model *m, const struct thread *t, const struct trace_event *ev);

/* ---- old_bytes.c ---- */

void step_old(struct model *m, const struct trace_event *ev);

/* ---- partial.c ---- */

/* Different values of some bytes of a line, sorted; nlost: the lowest number of units lost to show
 * each. */
struct contents {
	VEC(uint8_t) bytes;
	VEC(uint32_t) nlost;
	size_t n;
	uint32_t stride;    /* distance between rows while they are listed */
	uint64_t ndistinct; /* including those that are not listed; UINT64_MAX: unknown */
	uint64_t asked;     /* the asked bytes of partial_contents() */
	bool is_partial;
};
void contents_release(struct contents *c);
/* Lists the different values of bytes [from, to) of a line, sorted. The caller reuses `out` and
 * releases it. */
void partial_list(const struct model *m, const struct line *l, uint32_t from, uint32_t to,
		  struct contents *out);
/* Lists the different contents of a line. If there are more than `max`, lists only contents that
 * differ in the asked bytes; of those that agree in them, the one that loses least. */
void partial_contents(const struct model *m, const struct line *l, size_t max, uint64_t asked,
		      struct contents *out);
/* Counts the different contents that the line can have after a crash; UINT64_MAX: unknown. */
uint64_t partial_ncontents(const struct model *m, const struct line *l);
/* Finds the way to show this content that loses least, and calls f for each store that loses units
 * then. False if a crash cannot show the content. */
bool partial_each_lost(const struct model *m, const struct line *l, const uint8_t *content,
		       void (*f)(const struct store *s, bool is_partly, bool is_free, void *arg),
		       void *arg);

/* ---- units.c ---- */

uint8_t arm64_unit_bytes(const struct model *m, const struct trace_event *ev);
uint8_t x86_unit_bytes(const struct platform *p, const struct trace_event *ev);

/* ---- line.c ---- */

/* Appends a store: those of ev's bytes that are in the line, from `skip` on. */
void line_add_store(struct model *m, struct line *l, const struct thread *t,
		    const struct trace_event *ev, uint32_t skip, uint32_t size_bytes);
/* Makes ordered stores up to `upto`, and the unordered ones of a thread, durable. May remove the
 * line. */
void line_persist(struct model *m, struct line *l, uint64_t upto,
		  const struct thread *unordered_of);

/* ---- model.c ---- */

uint64_t thread_key(uint32_t stream, uint32_t thread); /* key of the thread in the model's map */
struct thread *thread_find(const struct model *m, uint32_t stream, uint32_t thread);
/* Like line_pending(), but adds a struct pending if the thread has none in the line. */
struct pending *pending_add(struct model *m, struct line *l, struct thread *t);

/* ---- inline ---- */

/* Asks whether the cache survives a crash while stores reach the cache in an open order (eadr on
 * arm64). */
static inline bool is_late(const struct model *m)
{
	return m->is_arm64 && m->platform->is_cache_durable;
}

static inline bool is_partial_order(const struct model *m)
{
	return m->platform->is_weak || is_late(m);
}

/* Gives the unit_bytes (struct store) of a store: 0 if all of it is one unit, else the size of a
 * unit. Within an aligned word, all amd64 processors agree. */
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

/* Gives the live bytes of a store, as bits: bit i is set if a crash could show the byte at + i. */
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

/* Gives the bytes of s that are in [from, to) of its line, as bits of the store. */
static inline uint64_t store_bits(const struct store *s, uint32_t from, uint32_t to)
{
	uint32_t end = (uint32_t)s->at + s->size_bytes;

	if (from < s->at)
		from = s->at;
	if (to > end)
		to = end;
	return from < to ? low_bits(to - from) << (from - s->at) : 0;
}

/* Gives the bytes of s that a newer store covers, as bits of the store s. */
static inline uint64_t store_covered(const struct store *s, const struct store *newer)
{
	return store_bits(s, newer->at, (uint32_t)newer->at + newer->size_bytes);
}

/* Compares rows of *stride bytes, for qsort_r(). */
static inline int row_compare(const void *a, const void *b, void *stride)
{
	return memcmp(a, b, *(uint32_t *)stride);
}

#endif
