/* A set of crash states, stored as what was narrowed, line by line, relative to a set that many
 * start with. Memory grows with what recovery read, not with what is undecided. Narrowings are
 * shared: two sets that agree in the first ones have them in common. NULL: nothing is narrowed. */
#ifndef CRASH_STATES_NARROWING_H
#define CRASH_STATES_NARROWING_H

#include "crash/states/states.h"

struct narrowing {
	struct narrowing *before;
	size_t uses;
	size_t line;     /* index in lines */
	uint64_t left[]; /* contents of the line that are left, as many words as it has */
};

/* A narrowing of this line to nothing, yet, after others, which it uses. One use belongs to the
 * caller. */
struct narrowing *narrowing_new(const struct state_set *s, struct narrowing *before, size_t line);
void narrowing_drop(struct narrowing *n);
/* Takes what is not left out of a bit set of all lines. */
void narrowing_apply(const struct state_set *s, const struct narrowing *n, uint64_t *set);

#endif
