/* Is it a commit variable's value that makes recovery read some bytes? Recovery is run once more,
 * with another value of the variable. */
#ifndef CRASH_RACES_COMMIT_GUARD_H
#define CRASH_RACES_COMMIT_GUARD_H

#include "crash/search/explorer.h"

struct guard_question {
	const struct commit_var *var;
	uint8_t *other;      /* value of it */
	uint64_t addr, mask; /* bytes that were read: addr + i for each bit i, all in one line */
};

enum commit_guard {
	GUARD_ERROR = -1, /* recovery cannot be run at all */
	GUARD_UNKNOWN,    /* recovery did not come to its end */
	GUARD_NOT,        /* some of the bytes are read or written with the other value, too */
	GUARD_YES,
};

/* At the failure point of the walk, after its exploration: changes what the runner has loaded. */
enum commit_guard commit_guard_ask(struct explorer *e, const struct guard_question *s,
				   struct error *err);

#endif
