/* Whether a failure is the program's, or that of a limit that pmend sets. */
#ifndef CRASH_SEARCH_BLAME_H
#define CRASH_SEARCH_BLAME_H

#include "crash/search/verdict.h"

/* Runs again what failed: 1 if it fails in the same way, 0 if not, -1 if it cannot be run. */
typedef int blame_run(void *arg, struct error *err);

enum blame { BLAME_PROGRAM, BLAME_CHANCE, BLAME_LIMIT, BLAME_ERROR };

/* Of BLAME_LIMIT: *which. A failure that is the program's costs one run. */
enum blame blame_find(struct runner *r, const struct verdict *v, blame_run *again, void *arg, enum runner_limit *which, struct error *err);

#endif
