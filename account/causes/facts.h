/* Facts about the events of some places in a trace: which of them came together. One pass; memory
 * grows with the number of places. */
#ifndef ACCOUNT_CAUSES_FACTS_H
#define ACCOUNT_CAUSES_FACTS_H

#include "trace/trace.h"
#include "util/vec.h"

/* One event of a place. Of a store that crosses a line's end there are two. */
struct touch {
	uint64_t seq, line; /* line: of a store, the address of its cache line */
	uint64_t addr, end; /* of the whole event */
	uint32_t stream, thread;
	uint32_t epoch; /* of the thread: fences so far */
};

/* for qsort: by event */
static inline int touch_order(const void *a, const void *b)
{
	const struct touch *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

typedef VEC(struct touch) touches;

/* A transaction of one thread, from the outermost begin to the end. */
struct tx_span {
	uint32_t stream, thread;
	uint64_t begin_seq, end_seq; /* UINT64_MAX: never ended */
};

struct facts {
	VEC(bool) wanted; /* by id of a site; set before facts_take() */
	/* by id of a site: its events in order; of many, the first and the last */
	VEC(touches) sites;
	VEC(struct tx_span) spans; /* in the order in which they began */
	/* by id: all sites that events are from; NULL: there is none */
	VEC(const struct trace_site *) known;
	/* bytes of the longest range that a transaction was told to log, and the program stored
	 * to */
	uint64_t longest_add;
	/* seq of events by which the program tells something, or begins or ends an operation */
	VEC(uint64_t) acknowledgements;
};

void facts_want(struct facts *f, uint32_t site); /* 0: nothing */
void facts_take(struct facts *f, const struct trace *t);
void facts_release(struct facts *f);

/* the last to begin of those that are open; NULL: none */
const struct tx_span *facts_span(const struct facts *f, uint64_t seq);
/* after this event; UINT64_MAX: none */
uint64_t facts_next_acknowledgement(const struct facts *f, uint64_t seq);
const touches *facts_of(const struct facts *f, uint32_t site);
/* Some event of either is a store to the same line, by one thread, with no fence between: one flush
 * would serve both. */
bool facts_share_flush(const struct facts *f, uint32_t a, uint32_t b);
/* The same, each time and for all lines: one flush of the lines of either serves both. */
bool facts_share_flushes(const struct facts *f, uint32_t a, uint32_t b);
/* One call could log what both store: it touches, or ranges as long are logged elsewhere. Only
 * stores to the same line are compared. */
bool facts_one_range(const struct facts *f, uint32_t a, uint32_t b);
/* From each event of `from` to the next of `to`. */
struct stretch {
	uint32_t from, to; /* sites */
};
/* Somewhere a fence that comes just before the end of a stretch of the first kind is inside one of
 * the second: it would serve both. */
bool facts_one_fence(const struct facts *f, struct stretch first, struct stretch second);

#endif
