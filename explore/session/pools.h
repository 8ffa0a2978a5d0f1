/* Finds the pool files of an explored program in the traces of its runs, and restores them before
 * each run and at the end.
 *
 * Runs at the same time have numbers, their slots. Slot 0 uses the pools themselves. The others use
 * copies beside the pools; words of the command line and environment that name a pool then name the
 * copy. */
#ifndef EXPLORE_SESSION_POOLS_H
#define EXPLORE_SESSION_POOLS_H

#include <stdbool.h>

#include "explore/session/reservations.h"
#include "util/error.h"
#include "util/vec.h"

struct pool_copy {
	char *path;
	char *copy; /* of its original content; NULL if it did not exist */
};

struct pools {
	const char *folder; /* for the copies */
	unsigned nslots;    /* slots that were used */
	VEC(struct pool_copy) list;
	struct reservations
		reserved; /* reserves the pools, so that no other exploration uses them */
};

/* Learns the pools from the trace of a run that began with all known pools restored. The content of
 * new pools is restored from the trace. -1 if that is not exactly possible. */
int pools_learn(struct pools *p, const char *trace, struct error *err);
int pools_restore(const struct pools *p, unsigned slot, struct error *err);
/* Gives a pool that none of the words names, so that runs cannot have copies of it; NULL if there
 * is none. */
const char *pools_unnamed(const struct pools *p, char *const *words, char *const *env);
/* Replaces the words that name a pool by words that name the slot's copy of the pool. The words
 * must be allocated. */
void pools_rename(const struct pools *p, unsigned slot, char **words);
void pools_release(struct pools *p);

#endif
