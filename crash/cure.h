/* Looks for the smallest change of a trace that cures a failing crash state. The caller judges a
 * change: by running recovery, or by a rule in tests. */
#ifndef CRASH_CURE_H
#define CRASH_CURE_H

#include "crash/states/walk.h"

struct cure_judge {
	/* Judges the states at the failure point where the walk stands. 1: recovery copes with all
	 * of them. CURE_SAMPLED: it copes with those that were tried. 0: it fails on one. -1: it
	 * cannot be run. */
	int (*at)(struct walk *w, void *arg, struct error *err);
	void *arg;
	unsigned stops; /* enum walk_stops */
	/* failure points that are searched on each side; 0: POINTS_MAX */
	size_t npoints_max;
	uint64_t ntried, nfailed; /* candidates so far */
	/* is called for each candidate interval that does not cure; may be NULL */
	void (*on_failure)(uint64_t first_seq, uint64_t last_seq, void *arg);
	void *on_failure_arg;
};

/* The failure points before the events first_seq to last_seq are judged. They are the failing one
 * and its neighbours up to the nearest on each side where recovery copes with every state. A window
 * never reaches across an acknowledgement. */
struct cure_window {
	uint64_t first_seq, last_seq;
	/* stores between these events may belong to the cure: up to where recovery copes, or up to
	 * the acknowledgement */
	uint64_t from_seq, to_seq;
	/* recovery fails on a state at the failure point itself if nothing is changed */
	bool is_failing;
};

/* A piece of a thread's work in which no transaction may begin or end: consecutive stores of one
 * place, or a whole open transaction. */
struct cure_step {
	uint64_t first_seq, last_seq;
	uint32_t place;
	bool is_tx;
};

struct cure_steps {
	uint32_t stream, thread;
	VEC(struct cure_step) list;
};

/* The failure points of the changed trace. Each is judged when a verdict is needed, and only
 * once. */
enum { CURE_UNJUDGED = -2, CURE_SAMPLED = 2 };
struct cure_points {
	VEC(uint64_t) seqs;
	VEC(int) verdicts;
};

void cure_points_find(struct cure_points *out, const struct plan *p, const struct whatif *supposed,
		      const struct cure_judge *j);
void cure_points_release(struct cure_points *points);
/* Finds the window around the failure point before event seq. -1 with err. */
int cure_window_find(struct cure_window *w, struct cure_points *points, const struct plan *p,
		     const struct whatif *supposed, struct cure_judge *j, uint64_t seq,
		     struct error *err);
/* Judges a change on all failure points of the window. 1: recovery copes everywhere. 0: it does
 * not. known: failure points where recovery copes without the change; an added barrier only removes
 * states, so they are not judged again. NULL if none are known. */
int cure_holds(const struct cure_window *w, const struct plan *p, const struct whatif *supposed,
	       const struct cure_points *known, struct cure_judge *j, struct error *err);
/* Lists a thread's steps in the window, between the nearest acknowledgements before and after event
 * seq. */
void cure_steps_find(struct cure_steps *s, const struct plan *p, const struct whatif *supposed,
		     const struct cure_window *w, uint64_t seq, uint32_t stream, uint32_t thread);
/* Finds the smallest interval of steps that cures the window. 1: *first and *last are its ends, and
 * it is added to `supposed`, with every other execution of the same lines. 0: even all steps
 * together do not cure. */
int cure_interval_find(const struct cure_window *w, const struct plan *p, struct whatif *supposed,
		       const struct cure_steps *s, struct cure_judge *j, size_t *first,
		       size_t *last, struct error *err);

#endif
