/* Finds out whether recovery reads some bytes because of a commit variable's value. Recovery is run
 * once more, with another value of the variable. */
#ifndef CRASH_RACES_COMMIT_GUARD_H
#define CRASH_RACES_COMMIT_GUARD_H

#include "crash/search/explorer.h"

struct guard_question {
	const struct commit_var *var;
	uint8_t *other; /* another value of the variable */
	/* the bytes that were read: addr + i for each bit i, all in one line */
	uint64_t addr, mask;
};

enum commit_guard {
	GUARD_ERROR = -1, /* recovery cannot be run at all */
	GUARD_UNKNOWN,    /* recovery did not reach its end */
	GUARD_NOT,        /* with the other value, it still reads or writes some of the bytes */
	GUARD_YES,
};

/* Asks at the walk's failure point, after its exploration. Changes what the runner has loaded. */
enum commit_guard commit_guard_ask(struct explorer *e, const struct guard_question *s,
				   struct error *err);

#endif
