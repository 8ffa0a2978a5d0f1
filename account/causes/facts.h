/* Collects facts about the events of some places in a trace: which of them came together. It takes
 * one pass; memory grows with the number of places. */
#ifndef ACCOUNT_CAUSES_FACTS_H
#define ACCOUNT_CAUSES_FACTS_H

#include "trace/trace.h"
#include "util/vec.h"

/* One event of a place. A store that crosses the end of a line has two. */
struct touch {
	uint64_t seq, line; /* line: for a store, the address of its cache line */
	uint64_t addr, end; /* of the whole event */
	uint32_t stream, thread;
	uint32_t epoch; /* number of the thread's fences so far */
};

/* Compares two events of places by their numbers, for qsort(). */
static inline int touch_order(const void *a, const void *b)
{
	const struct touch *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

typedef VEC(struct touch) touches;

/* A transaction of one thread, from the outermost begin to the end. */
struct tx_span {
	uint32_t stream, thread;
	uint64_t begin_seq, end_seq; /* UINT64_MAX: it never ended */
};

struct facts {
	VEC(bool) wanted; /* by site id; set before facts_take() */
	/* by site id: its events in order; of many, the first and the last */
	VEC(touches) sites;
	VEC(struct tx_span) spans; /* in the order in which they began */
	/* by id: all sites that have events; NULL: no such site */
	VEC(const struct trace_site *) known;
	/* by site id: its last event; stored inside a transaction to bytes that were added to
	 * it only afterwards */
	VEC(struct touch) last;
	VEC(bool) is_added_late;
	/* length of the longest range that a transaction was told to log and the program stored
	 * to */
	uint64_t longest_add;
	/* seq of events that acknowledge something, or begin or end an operation */
	VEC(uint64_t) acknowledgements;
};

void facts_want(struct facts *f, uint32_t site); /* 0: nothing */
void facts_take(struct facts *f, const struct trace *t);
void facts_release(struct facts *f);

/* Gives the transaction that began last among those that are open at event seq; NULL: none is
 * open. */
const struct tx_span *facts_span(const struct facts *f, uint64_t seq);
/* Gives the next acknowledgement after event seq; UINT64_MAX: there is none. */
uint64_t facts_next_acknowledgement(const struct facts *f, uint64_t seq);
const touches *facts_of(const struct facts *f, uint32_t site);
/* Would one flush serve both places at least once? Yes if they store to the same line in one thread
 * with no fence in between. */
bool facts_share_flush(const struct facts *f, uint32_t a, uint32_t b);
/* Would one flush of the lines of either place serve both, each time and for all lines? */
bool facts_share_flushes(const struct facts *f, uint32_t a, uint32_t b);
/* Could one call log what both places store? Yes if the ranges touch, or if ranges of that length
 * are logged elsewhere. Only stores to the same line are compared. */
bool facts_one_range(const struct facts *f, uint32_t a, uint32_t b);
/* The stretches of the trace from each event of `from` to the next event of `to`. */
struct stretch {
	uint32_t from, to; /* site ids */
};
/* Would one fence serve both kinds of stretches? Yes if a fence right before the end of a stretch
 * of the first kind is inside one of the second kind. */
bool facts_one_fence(const struct facts *f, struct stretch first, struct stretch second);

#endif
