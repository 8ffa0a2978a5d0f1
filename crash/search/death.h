/* Where a signal killed recovery: two deaths of one signal in two functions are two ways to
 * fail. */
#ifndef CRASH_SEARCH_DEATH_H
#define CRASH_SEARCH_DEATH_H

#include "crash/run/runner.h"
#include "util/map.h"

/* Zero-initialised is empty. */
struct deaths {
	struct symbols *symbols;
	struct map by_pc; /* what deaths_find() says of a code address */
	struct map names; /* of functions, by that number */
};

void deaths_release(struct deaths *d);
/* A number for the function that recovery was in: the innermost that is neither the C library's nor
 * ours. Without symbols it is one for the instruction. 0: the stack is not known. */
uint64_t deaths_find(struct deaths *d, const struct runner *r, const struct runner_command *c,
		     const struct run_result *result);
/* The function's name, as long as d lives; NULL: it has none. */
const char *deaths_name(const struct deaths *d, uint64_t site);

#endif
