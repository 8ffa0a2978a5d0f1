/* What would a crash leave if the program were fixed in a certain way? Delivers the events of a
 * trace as they would be with additional barriers and transactions.
 *
 * A barrier: after a run of events of one source place in one thread comes a flush of the lines
 * that the run stored to, or a fence, or both; or a fence comes before the run. An interval: what
 * one thread stores from one event to another is withheld, and becomes durable all at once after
 * the last event; no crash sees a part of it. Overlapping intervals of a thread are joined.
 * Everything else that the program does stays, in the same order.
 *
 * A patch is tried with these. To find out whether two findings have one cause, pmend supposes the
 * smallest changes, which add only what a finding says is missing:
 *
 *   a call    makes the lines of some places durable, or completes their flushes. A real fence
 *             would complete every flush of its thread; this one completes no other.
 *   a flush   of one line, right after one event, by the thread that flushes there. The program's
 *             own fence completes it. This is how a helper is tried that flushes less than it is
 *             given.
 *   named     an interval withholds only the stores of these places.
 *   logged    stores of these places are announced to the open transaction and withheld until it
 *             ends: a crash before that leaves the bytes as they were. If recovery does not undo
 *             the transaction, because its commit was done already, the bytes are as they are
 *             after it: crash/states/logged.h.
 *   ended     transactions that begin at these places end with their operation, or with the
 *             program, and what was added to them is durable then. If recovery is to be run
 *             (forgets), it must not undo them. Nobody knows what the library would store to
 *             forget its log, so the library is supposed never to have logged: its stores are
 *             left out until the real end, and the program's stores to added ranges are withheld
 *             until the supposed end. */
#ifndef CRASH_STATES_WHATIF_H
#define CRASH_STATES_WHATIF_H

#include "model/model.h"
#include "trace/trace.h"
#include "util/vec.h"

struct whatif_barrier {
	uint32_t place; /* number of the place (whatif.places) whose events it follows */
	bool has_flush, has_fence;
	bool is_before; /* it comes before the first event of a run; only a fence can */
};

struct whatif_interval {
	uint32_t stream, thread;
	uint64_t first_seq, last_seq; /* events of that thread, both ends included */
};

#define WHATIF_PLACES 16u

/* One call that the program lacks. It happens each time the thread passes the given place, for the
 * lines that the thread touched since the last time. */
struct whatif_call {
	/* it comes after a run of events of this place; 0: it comes before one */
	uint32_t after;
	uint32_t before;            /* it comes before a run of events of this place */
	uint32_t of[WHATIF_PLACES]; /* places whose stored or flushed lines it is about; 0: none */
	/* it completes flushes and non-temporal stores of these lines; otherwise it makes the lines
	 * durable as they are then */
	bool is_fence;
};

struct whatif_flush {
	/* after event seq; the line of addr, or its page if the kind is msync */
	uint64_t seq, addr;
	uint32_t stream, thread;
	enum pmt_kind kind;
};

struct whatif {
	/* site id → number of its source place, callers included; 0: none */
	const uint32_t *places;
	size_t nplaces;
	VEC(struct whatif_barrier) barriers;
	VEC(struct whatif_interval) intervals;
	VEC(struct whatif_call) calls;
	VEC(struct whatif_flush) flushes; /* in the order of their events */
	/* all intervals withhold only stores of these places; empty: all stores */
	VEC(uint32_t) named;
	VEC(uint32_t) logged; /* places */
	VEC(uint32_t) ended;  /* places */
	bool forgets;
};

void whatif_release(struct whatif *w);
uint32_t whatif_place(const struct whatif *w, const struct trace_site *site); /* 0: none */

/* Whether a failure point may come before the event. */
enum whatif_mark {
	WHATIF_PLAIN,
	/* the first event that makes an interval durable; up to here, nobody has seen its stores */
	WHATIF_COMMIT,
	WHATIF_INSIDE, /* one of its other events; no crash comes before it */
};

struct rewriter;

/* Makes a rewriter: rewriter_next() gives the events of t as they would be with w. Borrows both
 * arguments. */
struct rewriter *rewriter_new(const struct whatif *w, struct trace *t);
void rewriter_free(struct rewriter *r);
/* Gives the next event, like trace_next(). A supposed event carries the number of the event before
 * it. */
bool rewriter_next(struct rewriter *r, struct trace_event *ev, enum whatif_mark *mark);

#endif
