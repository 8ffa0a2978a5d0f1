/* Looks for the smallest change of a trace that fixes a failing crash state. The caller decides
 * whether a change works, by running recovery or in a test by a rule. */
#ifndef CRASH_CURE_H
#define CRASH_CURE_H

#include "crash/states/walk.h"

struct cure_judge {
	/* Recovery on the states of the failure point where the walk is: 1 it copes with all,
	 * CURE_SAMPLED with those that were tried, 0 it does not, -1 it cannot be run. */
	int (*at)(struct walk *w, void *arg, struct error *err);
	void *arg;
	unsigned stops; /* enum walk_stops */
	/* how far consistent points are looked for on each side; 0: as far as is sensible */
	size_t npoints_max;
	uint64_t ntried, nfailed; /* candidates so far */
	/* A candidate interval failed; may be NULL. */
	void (*on_failure)(uint64_t first_seq, uint64_t last_seq, void *arg);
	void *on_failure_arg;
};

/* Failure points before these events are judged: the failing ones, and the nearest on both sides
 * where recovery copes with every state, if there is one before the acknowledgements on both
 * sides. */
struct cure_window {
	uint64_t first_seq, last_seq;
	/* what is stored in between may belong to the cure: up to where recovery copes, or to the
	 * acknowledgements */
	uint64_t from_seq, to_seq;
	/* recovery does not cope with the states at the failure point itself, as they are */
	bool is_failing;
};

/* A piece of a thread's work that no transaction may begin or end inside of: stores of one place,
 * or all of an open transaction. */
struct cure_step {
	uint64_t first_seq, last_seq;
	uint32_t place;
	bool is_tx;
};

struct cure_steps {
	uint32_t stream, thread;
	VEC(struct cure_step) list;
};

/* The failure points of what is supposed; each is judged when it is needed, and once. */
enum { CURE_UNJUDGED = -2, CURE_SAMPLED = 2 };
struct cure_points {
	VEC(uint64_t) seqs;
	VEC(int) verdicts;
};

void cure_points_find(struct cure_points *out, const struct plan *p, const struct whatif *supposed,
		      const struct cure_judge *j);
void cure_points_release(struct cure_points *points);
/* Around the failure point before event seq. -1 with err. */
int cure_window_find(struct cure_window *w, struct cure_points *points, const struct plan *p,
		     const struct whatif *supposed, struct cure_judge *j, uint64_t seq,
		     struct error *err);
/* 1: recovery copes with the states in the window if this is supposed. 0: it does not. known:
 * points at which recovery copes as it is, and so does with any barrier, which only takes states
 * away; NULL: there may be others. */
int cure_holds(const struct cure_window *w, const struct plan *p, const struct whatif *supposed,
	       const struct cure_points *known, struct cure_judge *j, struct error *err);
/* The steps of a thread in the window, between the acknowledgements that are nearest to the failure
 * before event seq. */
void cure_steps_find(struct cure_steps *s, const struct plan *p, const struct whatif *supposed,
		     const struct cure_window *w, uint64_t seq, uint32_t stream, uint32_t thread);
/* The smallest interval of steps that cures the window: 1 and its ends. It is added to what is
 * supposed, wherever the trace has the like. 0: not even all of them do. */
int cure_interval_find(const struct cure_window *w, const struct plan *p, struct whatif *supposed,
		       const struct cure_steps *s, struct cure_judge *j, size_t *first,
		       size_t *last, struct error *err);

#endif
