/* The pool files of an explored program: found in the traces of its runs, and put back as they were before each run and at the end. */
#ifndef CMD_EXPLORE_POOLS_H
#define CMD_EXPLORE_POOLS_H

#include "util/error.h"
#include "util/vec.h"

struct pool_copy {
	char *path;
	char *copy; /* of its content before; NULL: it did not exist */
};

struct pools {
	const char *folder; /* for copies */
	VEC(struct pool_copy) list;
};

/* A run that began with all known pools as they were left this trace. If it used others, they are put back from it and known from then on. -1 if
 * that cannot be done exactly. */
int pools_learn(struct pools *p, const char *trace, struct error *err);
int pools_restore(const struct pools *p, struct error *err);
void pools_release(struct pools *p);

#endif
