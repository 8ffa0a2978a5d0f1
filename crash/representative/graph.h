/* The persistence graph of a recorded run: its stores, and which must be durable before which.
 * There are no edges in memory. A store precedes another
 *   1. if it is guaranteed to be durable before the other is executed: an event (its *durable_seq*)
 *      comes between the two, or
 *   2. if both are plain stores inside the same line and it is the older one: what survives of a
 *      line is a prefix. On arm64, only if something orders them: a barrier, a release, an overlap
 *      (model_follows()).
 * That relation is transitive as it stands: with 1 after 2, a line's older stores are durable no
 * later than its newer ones; with 2 after 1, the durable event still comes before. So a question
 * costs two comparisons, and a store 40 bytes (and 16 for graph_is_any_durable()).
 *
 * A store across lines precedes by 1 only: it is durable when all its parts are. */
#ifndef CRASH_REPRESENTATIVE_GRAPH_H
#define CRASH_REPRESENTATIVE_GRAPH_H

#include "model/model.h"
#include "util/vec.h"

#define GRAPH_NEVER UINT64_MAX
#define GRAPH_NO_LINE UINT64_MAX

struct graph_store {
	uint64_t seq;
	/* the event that made it durable for good, its own on eADR; GRAPH_NEVER: none did */
	uint64_t durable_seq;
	uint64_t addr;
	uint32_t site; /* id in the trace, 0: none */
	uint8_t size_bytes;
	uint8_t nparts;    /* in lines, that are not durable yet */
	bool is_unordered; /* non-temporal: not a part of its line's order */
	bool is_silent;    /* what it stores was there already; set by those who know */
	uint32_t thread;   /* its index in threads */
	/* so many of the first stores precede it in its line, if they are its thread's */
	uint32_t follows;
};

struct graph {
	VEC(struct graph_store) stores; /* by seq; edges of 1 and 2 follow from it */
	VEC(uint64_t) durable_events;   /* that made something durable, by seq */
	/* graph_end(): a tree of the smallest durable_seq of ranges of stores */
	uint64_t *least;
	struct model *model;   /* while it grows */
	VEC(uint64_t) threads; /* the same: stream and thread */
	const struct platform *platform;
	uint64_t now_seq;
};

void graph_init(struct graph *g, const struct platform *platform);
void graph_step(struct graph *g, const struct trace_event *ev); /* every event, in order */
void graph_end(struct graph *g); /* after the last: questions may be asked */
void graph_release(struct graph *g);

/* The line of a store, GRAPH_NO_LINE if it has several or is not in its line's order. */
uint64_t graph_line(const struct graph *g, uint32_t store);
/* Inside of one line, in whose order both are: if the newer survives, the older does. */
bool graph_keeps(const struct graph *g, uint32_t older, uint32_t newer);
/* Some store of from … to - 1 is guaranteed to be durable when event seq is executed. */
bool graph_is_any_durable(const struct graph *g, uint32_t from, uint32_t to, uint64_t seq);
/* The first store later than event seq; the number of stores if there is none. */
uint32_t graph_after(const struct graph *g, uint64_t seq);
/* The index of the first one of a sorted list that is later than seq; n: none is. */
size_t seqs_after(const uint64_t *list, size_t n, uint64_t seq);
/* The store that is event seq; the number of stores: none is. */
uint32_t graph_find(const struct graph *g, uint64_t seq);

#endif
