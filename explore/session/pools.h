/* The pool files of an explored program: found in the traces of its runs, and put back as they were
 * before each run and at the end.
 *
 * Runs that go on at the same time have a number each, their slot. Slot 0 has the pools themselves;
 * the others have copies of their own beside them, and the words of the program's command line and
 * environment that name a pool name the copy instead. */
#ifndef EXPLORE_SESSION_POOLS_H
#define EXPLORE_SESSION_POOLS_H

#include <stdbool.h>

#include "explore/session/held.h"
#include "util/error.h"
#include "util/vec.h"

struct pool_copy {
	char *path;
	char *copy; /* of its content before; NULL: it did not exist */
};

struct pools {
	const char *folder; /* for copies */
	unsigned nslots;    /* that were used */
	VEC(struct pool_copy) list;
	struct held held; /* nobody else may run on them meanwhile */
};

/* A run that began with all known pools as they were left this trace. If it used others, they are
 * put back from it and known from then on. -1 if that cannot be done exactly. */
int pools_learn(struct pools *p, const char *trace, struct error *err);
int pools_restore(const struct pools *p, unsigned slot, struct error *err);
/* Whether each is named by one of the words, so that runs can have their own. NULL if so, else one
 * that is not. */
const char *pools_unnamed(const struct pools *p, char *const *words, char *const *env);
/* in words that malloc made */
void pools_rename(const struct pools *p, unsigned slot, char **words);
void pools_release(struct pools *p);

#endif
