/* What would a crash leave if the program were fixed in a certain way? Delivers the events of a
 * trace as they would be with additional barriers and transactions.
 *
 * A barrier: after the last of a run of events that one source place makes in one thread, a flush
 * of the lines that these stored to, or a fence, or both; or a fence before the first of them. An
 * interval: what one thread stores from one event to another is withheld, and becomes durable all
 * at once, after its last event; no crash sees a part of it. Intervals of a thread that overlap are
 * one. Otherwise, nothing that the program does is left out or reordered.
 *
 * A patch is tried with these. Whether two findings have one cause is tried with the least changes,
 * which do nothing but what a finding says is missing:
 *
 *   a call    makes the lines of some places durable, or completes what was flushed of them. A
 *             fence of the program's own would complete every flush of its thread; this one
 *             completes no other.
 *   a flush   of one line, right after one event, by the thread that flushes there. The program's
 *             own fence completes it. This is how a helper is tried that flushes less than it is
 *             given.
 *   named     an interval withholds the stores of these places only.
 *   logged    stores of these places are announced to the transaction that they are in, and
 *             withheld until it ends: a crash before that finds the bytes as they were. A
 *             transaction that recovery does not undo, because its commit was done already, has
 *             them as they are after it: crash/states/logged.h.
 *   ended     transactions that begin at these places end with their operation, or with the
 *             program, and what was added to them is durable then. If recovery is to be run
 *             (forgets), it must not undo them. What the library would store to forget its log is
 *             not known, so it has never logged: its stores are left out until the real end, and
 *             those of the program to what was added are withheld until the supposed one. */
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

#define WHATIF_PLACES 16u

/* One call that a program lacks. It comes each time that the thread has been where it belongs, for
 * what that thread did since the last time. */
struct whatif_call {
	/* the last of a run of events of this place; 0: it comes before */
	uint32_t after;
	uint32_t before;            /* the first of a run of events of this place */
	uint32_t of[WHATIF_PLACES]; /* the lines that these places stored to, or flushed; 0: none */
	/* completes flushes (and non-temporal stores) of these lines; else makes them durable as
	 * they are then */
	bool is_fence;
};

struct whatif_flush {
	uint64_t seq, addr; /* after event seq, the line of addr; its page, if the kind is msync */
	uint32_t stream, thread;
	enum pmt_kind kind;
};

struct whatif {
	/* by site id: a number for the source place, with its callers; 0: none */
	const uint32_t *places;
	size_t nplaces;
	VEC(struct whatif_barrier) barriers;
	VEC(struct whatif_interval) intervals;
	VEC(struct whatif_call) calls;
	VEC(struct whatif_flush) flushes; /* in the order of their events */
	/* all intervals withhold only what these places store; none: everything */
	VEC(uint32_t) named;
	VEC(uint32_t) logged; /* places */
	VEC(uint32_t) ended;  /* places */
	bool forgets;
};

void whatif_release(struct whatif *w);
uint32_t whatif_place(const struct whatif *w, const struct trace_site *site); /* 0: none */

/* What a failure point may do about an event. */
enum whatif_mark {
	WHATIF_PLAIN,
	/* the first of those that an interval makes durable: what it withheld was never seen up to
	 * here */
	WHATIF_COMMIT,
	WHATIF_INSIDE, /* the others: nobody sees what is in between */
};

struct rewriter;

/* Borrows both. */
struct rewriter *rewriter_new(const struct whatif *w, struct trace *t);
void rewriter_free(struct rewriter *r);
/* Like trace_next(). Events that the trace does not have carry the number of the one before
 * them. */
bool rewriter_next(struct rewriter *r, struct trace_event *ev, enum whatif_mark *mark);

#endif
