/* Whether a failure is the program's, or that of a limit that pmend sets. */
#ifndef CRASH_SEARCH_BLAME_H
#define CRASH_SEARCH_BLAME_H

#include "crash/search/verdict.h"

/* Runs again what failed. */
enum blame_again {
	AGAIN_ERROR = -1,
	AGAIN_FINE,
	AGAIN_SAME,
	AGAIN_OTHER /* it fails in another way */
};
typedef enum blame_again blame_run(void *arg, struct error *err);

enum blame {
	BLAME_PROGRAM,
	BLAME_CHANCE,
	BLAME_LIMIT,  /* *which: without that it does not fail */
	BLAME_EXCESS, /* *which: without that it takes more than the machine should give */
	BLAME_ERROR,
};

/* A failure that is the program's costs one run. is_clean: on a state where nothing is lost. */
enum blame blame_find(struct runner *r, const struct verdict *v, bool is_clean, blame_run *again,
		      void *arg, enum runner_limit *which, struct error *err);

#endif
