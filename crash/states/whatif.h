/* What would a crash leave if the program were fixed in a certain way? Delivers the events of a trace as they would be with additional barriers and transactions.
 *
 * A barrier: after the last of a run of events that one source place makes in one thread, a flush of the lines that these stored to, or a fence,
 * or both; or a fence before the first of them. An interval: what one thread stores from one event to another is withheld, and becomes durable all at once, after its
 * last event; no crash sees a part of it. Intervals of a thread that overlap are one. Otherwise, nothing that the program does is left out or reordered. */
#ifndef CRASH_STATES_WHATIF_H
#define CRASH_STATES_WHATIF_H

#include "model/model.h"
#include "trace/trace.h"
#include "util/vec.h"

struct whatif_barrier {
	uint32_t place; /* whose events it follows: a number of whatif.places */
	bool has_flush, has_fence;
	bool is_before; /* the first of them: only a fence */
};

struct whatif_interval {
	uint32_t stream, thread;
	uint64_t first_seq, last_seq; /* of events of that thread, both inside */
};

struct whatif {
	const uint32_t *places; /* by site id: a number for the source place, with its callers; 0: none */
	size_t nplaces;
	VEC(struct whatif_barrier) barriers;
	VEC(struct whatif_interval) intervals;
};

void whatif_release(struct whatif *w);
uint32_t whatif_place(const struct whatif *w, const struct trace_site *site); /* 0: none */

/* What a failure point may do about an event. */
enum whatif_mark {
	WHATIF_PLAIN,
	WHATIF_COMMIT, /* the first of those that an interval makes durable: what it withheld was never seen up to here */
	WHATIF_INSIDE, /* the others: nobody sees what is in between */
};

struct rewriter;

/* Borrows all three. m: a model of what it gives out, which tells what makes stores durable. */
struct rewriter *rewriter_new(const struct whatif *w, struct trace *t, const struct model *m);
void rewriter_free(struct rewriter *r);
/* Like trace_next(). Events that the trace does not have carry the number of the one before them. */
bool rewriter_next(struct rewriter *r, struct trace_event *ev, enum whatif_mark *mark);

#endif
