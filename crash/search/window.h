/* A window: neighbouring failure points that share their runs. Recovery reads little, and what it
 * reads is often the same at the next failure point, so the failure point is one more thing that a
 * run leaves undecided. A run lists all it reads of the lines that differ somewhere in the window.
 * It stands for each state of each failure point that agrees with all of that.
 *
 *	failure points     7          8          9
 *	count              3          3 or 4     4 or 5
 *	entry 4            -          -          whole
 *	runs               count=3    count=4    count=5
 *
 * Each failure point is explored as if it were alone: the same sets of states, in the same order,
 * judged by what is allowed there. Only a run whose reads some other run of the window had already
 * is not made again.
 *
 * What differs is a function of the trace: the lines that the first failure point may lose, and
 * those that are stored to up to the last one. Where files change, or the arguments of recovery,
 * no run is shared with what was before. */
#ifndef CRASH_SEARCH_WINDOW_H
#define CRASH_SEARCH_WINDOW_H

#include "crash/run/runner.h"
#include "crash/search/verdict.h"
#include "crash/states/states.h"
#include "crash/states/walk.h"

/* bytes of lines that differ; a window with more ends earlier */
#define WINDOW_BYTES 8192u

/* Reads the events of the next window ahead of the walk; each is read once if windows come in
 * order. Zero-initialised has read nothing. */
struct window_ahead {
	struct trace *trace;
	struct trace_event ev; /* read, and not yet passed */
	bool has_event;
	size_t nlate; /* of plan->late, so many came */
};
void window_ahead_release(struct window_ahead *a);

struct window;

/* The window from the failure point where the walk is to the one at the event last_seq. */
struct window *window_new(const struct walk *w, uint64_t last_seq, struct window_ahead *a);
void window_free(struct window *w);
/* It is one of the window's failure points; all its runs are known to be of the window, then. */
bool window_has(struct window *w, uint64_t point, uint64_t seq);
uint64_t window_first_point(const struct window *w);
uint64_t window_last_point(const struct window *w); /* so far */
size_t window_bytes(const struct window *w);        /* of memory that its runs take */
void window_forget(struct window *w);               /* the runs; they are made again */
/* Has reads of all lines that differ listed. */
void window_watch(const struct window *w, struct state_set *s, const struct crash_image *im);

/* What tells failure points of a window apart that cannot share runs; 0: this one shares none. */
uint64_t window_moment(const struct window *w, uint64_t seq, uint64_t operation);

typedef VEC(struct run_decision) decision_list;

/* Keeps a run at this moment. left: what it stands for; list: all its decisions, with the reads of
 * watched bytes. */
void window_keep(struct window *w, uint64_t moment, const struct state_set *s, const uint64_t *left,
		 const struct run_decision *list, size_t n, const struct verdict *v);

/* How a run on the newest state of the set would end, if some run read the same; its strings stay
 * as long as the window. The verdict of a dump is that of the other failure point. */
struct window_hit {
	struct verdict verdict;
	bool has_text;           /* all that it printed is there */
	decision_list decisions; /* that it would take, of these states */
	uint64_t *left;          /* what it would stand for; NULL: nobody asks */
};
/* False: there is none. states: for each line, what is possible. */
bool window_find(const struct window *w, uint64_t moment, const struct state_set *s,
		 const uint64_t *states, struct window_hit *hit);
void window_hit_release(struct window_hit *hit);

/* Of the decisions of a run that listed reads of watched bytes, those that it took; what the
 * verdict says of their numbers follows. */
void window_strip(const struct run_decision *list, size_t n, decision_list *taken,
		  struct verdict *v);

#endif
