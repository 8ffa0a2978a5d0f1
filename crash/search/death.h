/* Finds where a signal killed recovery. The same signal in two functions counts as two ways to
 * fail. */
#ifndef CRASH_SEARCH_DEATH_H
#define CRASH_SEARCH_DEATH_H

#include "crash/run/runner.h"
#include "util/map.h"

/* What deaths_find() has looked up. Zero-initialised is empty. */
struct deaths {
	struct symbols *symbols;
	struct map by_pc; /* code address → result of deaths_find() */
	struct map names; /* result of deaths_find() → name of the function */
};

void deaths_release(struct deaths *d);
/* Gives a number for the function that recovery was in: the innermost function that is neither the
 * C library's nor pmend's. Without symbols, the number stands for the instruction. 0: the stack is
 * unknown. */
uint64_t deaths_find(struct deaths *d, const struct runner *r, const struct runner_command *c,
		     const struct run_result *result);
/* The function's name, valid as long as d; NULL if it has none. */
const char *deaths_name(const struct deaths *d, uint64_t site);

#endif
