/* What strategies are made of. For crash/search/ only.
 *
 *   explorer.c  one run, its count and its judgement
 *   whole_images.c  runs on whole images
 *   agenda.c    lazy runs, and the sets of states that they leave aside
 *   point.c     a failure point, in one visit or in several
 *
 * strategies.c has the strategies, by_behaviour.c the one that goes through behaviours. */
#ifndef CRASH_SEARCH_EXPLORER_INTERNAL_H
#define CRASH_SEARCH_EXPLORER_INTERNAL_H

#include "crash/search/explorer.h"
#include "crash/states/narrowing.h"

/* ---- explorer.c ---- */

int explorer_run(struct explorer *e, const uint64_t *set, bool is_lazy, struct verdict *v,
		 struct error *err);
/* A lazy run, or what it would come to, if the window has one that reads the same. */
int explorer_run_lazily(struct explorer *e, const uint64_t *set, struct verdict *v,
			struct error *err);
/* After a lazy run: it read bytes of a line with very many contents that these do not tell apart.
 * Then it does not count, the bytes are asked for, and the failure point begins anew. */
bool explorer_widen(struct explorer *e);
/* After a run that began with the states `before` and stands for those that are left: counts it,
 * and hands a failing state on. -1: recovery cannot be run at all. */
int explorer_conclude(struct explorer *e, const uint64_t *before, const uint64_t *left,
		      const struct verdict *v, struct error *err);

/* This visit has had its runs. */
bool explorer_is_paused(const struct explorer *e);
/* The failure point has had all runs that --sample allows; then it is cut. */
bool explorer_is_sampled(struct explorer *e);

/* ---- whole_images.c ---- */

/* A set whose states are run one by one. */
struct whole_images {
	struct sparse_set next; /* the state to go on with */
	bool is_fallback;       /* laziness failed: not too many of them */
	uint64_t nruns;
};
int whole_images_run(struct explorer *e, const uint64_t *state, struct error *err);
struct whole_images *whole_images_new(const struct explorer *e, const uint64_t *set);
/* The same because laziness failed. NULL: the failure point begins anew with all contents. */
struct whole_images *whole_images_fall_back(struct explorer *e, const uint64_t *set,
					    const char *why);
void whole_images_free(struct whole_images *w);
/* Runs states of the set until there are no more, or until a limit. is_over: there is nothing left
 * to do. */
int whole_images_go_on(struct explorer *e, struct whole_images *w, const uint64_t *set,
		       bool *is_over, struct error *err);

/* ---- agenda.c ---- */

/* A set of states: that of a behaviour, or all, without what was narrowed. */
struct agenda_set {
	size_t test; /* index in the explorer's tests plus 1; 0: all */
	struct narrowing *narrowed;
	uint64_t hash; /* of what it is, however it came about; only of sets of behaviours */
	struct whole_images *whole; /* its states are run as whole images; NULL: lazily */
};

struct agenda {
	VEC(struct agenda_set) sets;
	VEC(struct agenda_set) known; /* these can only repeat what is known to fail here */
};

/* Where an agenda begins. test: as above. */
struct agenda_set agenda_begin(const struct explorer *e, size_t test);
/* The bit set of all lines; free() it. */
uint64_t *agenda_expand(const struct explorer *e, const struct agenda_set *set);
/* Takes the set. */
void agenda_add(const struct explorer *e, struct agenda *todo, const struct agenda_set *set);

void agenda_release(struct agenda *todo); /* nothing is left to do */
/* Puts the sets that turned another way at this decision on the agenda (NULL: not), and narrows the
 * set, and its bits in `left`, to the way taken. */
void agenda_branch(struct explorer *e, struct agenda *todo, struct agenda_set *set, uint64_t *left,
		   const struct run_decision *d);
/* Until there is nothing left, or no time, or the visit is over. */
int agenda_explore(struct explorer *e, struct agenda *todo, struct error *err);
/* Decisions and the runtime agree about what is left. */
void agenda_check_left(const struct explorer *e, const uint64_t *left);
/* What was read for the first time makes the visit a new one. */
void agenda_note_decisions(struct explorer *e);

#endif
