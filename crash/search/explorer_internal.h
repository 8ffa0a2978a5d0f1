/* What strategies are made of. For crash/search/ only.
 *
 *   explorer.c  one run, its count and its judgement; a failure point
 *   whole.c     runs on whole images
 *   agenda.c    lazy runs, and the sets of states that they leave aside
 *
 * lazy.c, eager.c, prefix.c and by_behaviour.c are the strategies; strategies.c lists them. */
#ifndef CRASH_SEARCH_EXPLORER_INTERNAL_H
#define CRASH_SEARCH_EXPLORER_INTERNAL_H

#include "crash/search/explorer.h"
#include "crash/states/narrowing.h"

/* ---- explorer.c ---- */

int explorer_run(struct explorer *e, const uint64_t *set, bool is_lazy, struct verdict *v, struct error *err);
/* After a lazy run: it read bytes of a line with very many contents that these do not tell apart. Then it does not count, the bytes are asked for, and the
 * failure point begins anew. */
bool explorer_widen(struct explorer *e);
/* After a run that began with the states `before` and stands for those that are left: counts it, and hands a failing state on. -1: recovery cannot be run at all. */
int explorer_conclude(struct explorer *e, const uint64_t *before, const uint64_t *left, const struct verdict *v, struct error *err);
/* The state that memory held: of what is left, the newest in each line. free() it. */
uint64_t *explorer_state(const struct explorer *e, const uint64_t *left);

/* ---- whole.c ---- */

int whole_state(struct explorer *e, const uint64_t *state, struct error *err);
/* Every state of a set. */
int whole_set(struct explorer *e, const uint64_t *set, struct error *err);
/* The same because laziness failed, and not too many of them. */
int whole_fall_back(struct explorer *e, const uint64_t *set, const char *why, struct error *err);

/* ---- agenda.c ---- */

/* A set of states: that of a behaviour, or all, without what was narrowed. */
struct agenda_set {
	const struct sparse_set *base; /* NULL: all */
	struct narrowing *narrowed;
	uint64_t hash; /* of what it is, however it came about; only of sets of behaviours */
};

struct agenda {
	VEC(struct agenda_set) sets;
};

/* Where an agenda begins. base: NULL for all. */
struct agenda_set agenda_begin(const struct explorer *e, const struct sparse_set *base);
/* The bit set of all lines; free() it. */
uint64_t *agenda_expand(const struct explorer *e, const struct agenda_set *set);

void agenda_release(struct agenda *todo);
/* Puts the sets that turned another way at this decision on the agenda (NULL: not), and narrows the set, and its bits in `left`, to the way taken. */
void agenda_branch(struct explorer *e, struct agenda *todo, struct agenda_set *set, uint64_t *left, const struct run_decision *d);
/* Until there is nothing left, or no time. */
int agenda_explore(struct explorer *e, struct agenda *todo, struct error *err);
/* Decisions and the runtime agree about what is left. */
void agenda_check_left(const struct explorer *e, const uint64_t *left);

#endif
