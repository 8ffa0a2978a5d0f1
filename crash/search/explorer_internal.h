/* Functions of which strategies are made; only for crash/search/.
 *
 *   explorer.c      makes one run, counts it, judges it
 *   whole_images.c  runs on whole images
 *   agenda.c        lazy runs, and the sets of states that they leave aside
 *   point.c         a failure point, in one visit or in several
 *
 * strategies.c has the strategies, by_behaviour.c the one that goes through behaviours. */
#ifndef CRASH_SEARCH_EXPLORER_INTERNAL_H
#define CRASH_SEARCH_EXPLORER_INTERNAL_H

#include "crash/search/explorer.h"
#include "crash/states/narrowing.h"

/* ---- explorer.c ---- */

int explorer_run(struct explorer *e, const uint64_t *set, bool is_lazy, struct verdict *v,
		 struct error *err);
/* Makes a lazy run, or takes its result from a run of the window whose reads had the same
 * values. */
int explorer_run_lazily(struct explorer *e, const uint64_t *set, struct verdict *v,
			struct error *err);
/* Checks after a lazy run whether it read bytes that the listed contents of a line do not tell
 * apart. If so, the run does not count, these bytes are asked for, and the failure point starts
 * again. */
bool explorer_widen(struct explorer *e);
/* Counts a run that began with the states `before` and stands for those in `left`; passes a failing
 * state to the caller. -1 if recovery cannot be run at all. */
int explorer_conclude(struct explorer *e, const uint64_t *before, const uint64_t *left,
		      const struct verdict *v, struct error *err);

/* Has this visit made all runs that it was given? */
bool explorer_is_paused(const struct explorer *e);
/* Has the failure point had all runs that --sample allows? Then it is marked as cut. */
bool explorer_is_sampled(struct explorer *e);

/* ---- whole_images.c ---- */

/* A set whose states are run one by one. */
struct whole_images {
	struct sparse_set next; /* the next state to run */
	bool is_fallback;       /* a lazy run did not work, so the number of states is limited */
	uint64_t nruns;
};
int whole_images_run(struct explorer *e, const uint64_t *state, struct error *err);
struct whole_images *whole_images_new(const struct explorer *e, const uint64_t *set);
/* Like whole_images_new(), for a set whose lazy run did not work; `why` says the reason. NULL: some
 * line of the failure point does not have all its contents listed, so the failure point starts
 * again with all contents listed. */
struct whole_images *whole_images_fall_back(struct explorer *e, const uint64_t *set,
					    const char *why);
void whole_images_free(struct whole_images *w);
/* Runs states of the set until all are done or a limit is reached. is_over: no state is left. */
int whole_images_go_on(struct explorer *e, struct whole_images *w, const uint64_t *set,
		       bool *is_over, struct error *err);

/* ---- agenda.c ---- */

/* A set of states: all states, or those of a behaviour, minus what was narrowed. */
struct agenda_set {
	size_t test; /* index in explorer.tests plus 1; 0: all states */
	struct narrowing *narrowed;
	/* hash of the states, whatever way led to them; only for sets of behaviours */
	uint64_t hash;
	struct whole_images *whole; /* its states are run as whole images; NULL: lazily */
	bool is_repeat;             /* it can only repeat a known failure */
	bool is_slow;               /* the short limit ended its run */
};

struct agenda {
	VEC(struct agenda_set) sets;
	VEC(struct agenda_set) known; /* sets that can only repeat a known failure of this point */
	VEC(struct agenda_set) slow;  /* sets whose run the short limit ended, in this order */
};

/* Makes the first set of an agenda. test: as in struct agenda_set. */
struct agenda_set agenda_begin(const struct explorer *e, size_t test);
/* Expands a set of the agenda to a bit set of all lines; free() it. */
uint64_t *agenda_expand(const struct explorer *e, const struct agenda_set *set);
/* Adds a set to the agenda. Takes the set. */
void agenda_add(const struct explorer *e, struct agenda *todo, const struct agenda_set *set);

void agenda_release(struct agenda *todo); /* no work is left */
/* Branches at one decision. The sets with other values go to the agenda (if todo is not NULL); the
 * set itself, and its bits in `left`, keep only the value that the run read. */
void agenda_branch(struct explorer *e, struct agenda *todo, struct agenda_set *set, uint64_t *left,
		   const struct run_decision *d);
/* Runs sets until none is left, the time is over, or the visit ends. */
int agenda_explore(struct explorer *e, struct agenda *todo, struct error *err);
/* Checks that our decisions and the runtime agree about the states that are left. */
void agenda_check_left(const struct explorer *e, const uint64_t *left);
/* Sets explorer.is_new if the last run read something for the first time. */
void agenda_note_decisions(struct explorer *e);

#endif
