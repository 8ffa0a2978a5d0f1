/* The persistence graph of a recorded run: its stores, and which must be durable before which.
 * There are no edges in memory. A store precedes another
 *   1. if it is guaranteed to be durable before the other is executed: an event (its *durable_seq*)
 *      comes between the two, or
 *   2. if both are plain stores inside the same line and it is the older one, because a prefix of a
 *      line's stores survives. On arm64 this holds only if something orders the two: a barrier, a
 *      release, an overlap (model_follows()).
 * The relation is transitive: with 1 after 2, a line's older stores are durable no later than its
 * newer ones; with 2 after 1, the durable event still comes before. So a question costs two
 * comparisons, and a store 40 bytes (and 16 for graph_is_any_durable()).
 *
 * A store across two lines precedes others only by rule 1: it is durable when all its parts are. */
#ifndef CRASH_REPRESENTATIVE_GRAPH_H
#define CRASH_REPRESENTATIVE_GRAPH_H

#include "model/model.h"
#include "util/vec.h"

#define GRAPH_NEVER UINT64_MAX
#define GRAPH_NO_LINE UINT64_MAX

struct graph_store {
	uint64_t seq;
	/* the event that made it durable (itself on eADR); GRAPH_NEVER: no event did */
	uint64_t durable_seq;
	uint64_t addr;
	uint32_t site; /* site id; 0: none */
	uint8_t size_bytes;
	uint8_t nparts;    /* number of its parts (in lines) that are not durable yet */
	bool is_unordered; /* non-temporal, so not part of its line's order */
	bool is_silent;    /* it stores the value that was there already; set by the caller */
	uint32_t thread;   /* index in threads */
	/* this many of the first stores precede it in its line, if its thread made them */
	uint32_t follows;
};

struct graph {
	VEC(struct graph_store) stores; /* ascending seq; rules 1 and 2 give the edges */
	VEC(uint64_t) durable_events;   /* events that made something durable, ascending */
	/* built by graph_end(): a tree of the smallest durable_seq of ranges of stores */
	uint64_t *least;
	struct model *model;   /* while the graph grows */
	VEC(uint64_t) threads; /* while the graph grows: stream and thread */
	const struct platform *platform;
	uint64_t now_seq;
};

void graph_init(struct graph *g, const struct platform *platform);
/* Adds an event. All events must be added, in order. */
void graph_step(struct graph *g, const struct trace_event *ev);
void graph_end(struct graph *g); /* after the last event; then questions can be asked */
void graph_release(struct graph *g);

/* Gives the line of a store; GRAPH_NO_LINE if the store is in several lines, or not part of its
 * line's order. */
uint64_t graph_line(const struct graph *g, uint32_t store);
/* Does the older store survive whenever the newer one does? Both must be in the order of one
 * line. */
bool graph_keeps(const struct graph *g, uint32_t older, uint32_t newer);
/* Is one of the stores from … to - 1 guaranteed to be durable when event seq is executed? */
bool graph_is_any_durable(const struct graph *g, uint32_t from, uint32_t to, uint64_t seq);
/* Gives the first store after event seq; the number of stores if there is none. */
uint32_t graph_after(const struct graph *g, uint64_t seq);
/* The index of the first number in an ascending list that is larger than seq; n if there is
 * none. */
size_t seqs_after(const uint64_t *list, size_t n, uint64_t seq);
/* Gives the store that event seq made; the number of stores if the event is no store. */
uint32_t graph_find(const struct graph *g, uint64_t seq);

#endif
