/* A set of crash states, stored as a list of lines that were narrowed, relative to a set that many
 * share. Memory grows with what recovery read, not with the number of undecided lines. Two sets
 * whose first narrowings are equal share them. NULL: nothing is narrowed.
 *
 *	line 7 {0 1} <- line 3 {2}   set A
 *	             <- line 9 {0}   set B; both use the narrowing of line 7 */
#ifndef CRASH_STATES_NARROWING_H
#define CRASH_STATES_NARROWING_H

#include "crash/states/states.h"

struct narrowing {
	struct narrowing *before;
	size_t uses;
	size_t line;     /* index in lines of the set */
	uint64_t left[]; /* one bit per content of the line that is left */
};

/* Makes a narrowing that follows `before` and holds a reference to it. No content is left in it;
 * the caller sets the bits. The caller owns one reference. */
struct narrowing *narrowing_new(const struct state_set *s, struct narrowing *before, size_t line);
void narrowing_drop(struct narrowing *n);
/* Removes from a bit set of all lines the contents that the chain excludes. */
void narrowing_apply(const struct state_set *s, const struct narrowing *n, uint64_t *set);

#endif
