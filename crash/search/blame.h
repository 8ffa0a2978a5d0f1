/* Finds out whether a failure is the program's, or comes from a limit that pmend sets. */
#ifndef CRASH_SEARCH_BLAME_H
#define CRASH_SEARCH_BLAME_H

#include "crash/search/verdict.h"

/* How a repeated run ended. */
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
	BLAME_LIMIT,  /* without limit *which it does not fail */
	BLAME_EXCESS, /* without limit *which it uses more than the machine should give */
	BLAME_ERROR,
};

/* Judges a failure. If the program is to blame, that costs one run. is_clean: nothing is lost in
 * the state. */
enum blame blame_find(struct runner *r, const struct verdict *v, bool is_clean, blame_run *again,
		      void *arg, enum runner_limit *which, struct error *err);

#endif
