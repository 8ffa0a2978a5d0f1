/* A window: neighbouring failure points that share their runs. Recovery reads little, and what it
 * reads is often the same at the next failure point. So the failure point is treated as one more
 * thing that a run leaves undecided: a run lists all its reads of lines that differ somewhere in
 * the window, and stands for each state of each failure point with the same values there.
 *
 *	failure points     7          8          9
 *	count              3          3 or 4     4 or 5
 *	entry 4            -          -          whole
 *	runs               count=3    count=4    count=5
 *
 * The run with count=3 at point 7 also serves one of the two sets of point 8.
 *
 * Each failure point is explored as if it were alone: the same sets of states in the same order,
 * judged by what is allowed there. Only a run whose reads another run of the window had already is
 * not made again.
 *
 * The trace decides which bytes differ: those of lines that the first failure point may lose, and
 * of stores up to the last failure point. Where files change, or the arguments of recovery, no run
 * is shared with earlier failure points. */
#ifndef CRASH_SEARCH_WINDOW_H
#define CRASH_SEARCH_WINDOW_H

#include "crash/run/runner.h"
#include "crash/search/verdict.h"
#include "crash/states/states.h"
#include "crash/states/walk.h"

/* bytes of lines that may differ; a window with more ends earlier */
#define WINDOW_BYTES 8192u

/* A reader of events ahead of the walk. It reads each event once if windows come in order.
 * Zero-initialised: nothing read yet. */
struct window_ahead {
	struct trace *trace;
	struct trace_event ev; /* read but not used yet */
	bool has_event;
	size_t nlate; /* number of entries of plan->late that came */
};
void window_ahead_release(struct window_ahead *a);

struct window;

/* Makes the window from the walk's failure point to the one at event last_seq. */
struct window *window_new(const struct walk *w, uint64_t last_seq, struct window_ahead *a);
void window_free(struct window *w);
/* Does the failure point belong to the window? If it does, the window notes it as the last one so
 * far. */
bool window_has(struct window *w, uint64_t point, uint64_t seq);
uint64_t window_first_point(const struct window *w);
uint64_t window_last_point(const struct window *w); /* so far */
size_t window_bytes(const struct window *w);        /* memory of its runs */
/* Drops the window's runs; they are made again if needed. */
void window_forget(struct window *w);
/* Makes the runner list reads of all bytes that may differ. */
void window_watch(const struct window *w, struct state_set *s, const struct crash_image *im);

/* Gives a number that is equal for failure points of the window that can share runs; 0: this one
 * shares none. */
uint64_t window_moment(const struct window *w, uint64_t seq, uint64_t operation);

typedef VEC(struct run_decision) decision_list;

/* Keeps a run at this moment. left: the states for which it stands; list: all decisions, with the
 * reads of watched bytes. */
void window_keep(struct window *w, uint64_t moment, const struct state_set *s, const uint64_t *left,
		 const struct run_decision *list, size_t n, const struct verdict *v);

/* How a run on the newest state of the set would end, if another run read the same. Its strings
 * live as long as the window. A dump is judged for the other failure point. */
struct window_hit {
	struct verdict verdict;
	bool has_text;           /* the whole output was kept */
	decision_list decisions; /* the decisions that the run would take */
	uint64_t *left;          /* the states for which it would stand; NULL: not wanted */
};
/* Finds a kept run whose reads had the values that the newest of these states has. False: there is
 * none. states: the possible contents of each line. */
bool window_find(const struct window *w, uint64_t moment, const struct state_set *s,
		 const uint64_t *states, struct window_hit *hit);
void window_hit_release(struct window_hit *hit);

/* Removes the reads of watched bytes from the decisions of a run, and adapts the verdict's numbers
 * of decisions. */
void window_strip(const struct run_decision *list, size_t n, decision_list *taken,
		  struct verdict *v);

#endif
