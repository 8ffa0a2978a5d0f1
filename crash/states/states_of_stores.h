/* Finds the crash states of one update behaviour at a failure point. These are the states that lose
 * only stores of the behaviour, and later stores to their lines that cannot survive without them.
 * All other lines have their newest content. */
#ifndef CRASH_STATES_STATES_OF_STORES_H
#define CRASH_STATES_STATES_OF_STORES_H

#include "crash/states/states.h"

/* Gives the bit set of the states of a behaviour; free() it. seqs: the behaviour's stores,
 * ascending. */
uint64_t *states_of_stores(const struct state_set *s, const struct model *m, const uint64_t *seqs,
			   size_t nseqs);
/* Is every state of `other` in `set`? */
bool states_include(const struct state_set *s, const uint64_t *set, const uint64_t *other);

/* Does one content of the line lose at least what the other content loses? is_by_place: with a
 * partial order, stores of one place count as one store, because any store of a loop may be lost
 * alone. */
bool states_loses(const struct state_set *s, const struct model *m, const struct state_line *l,
		  uint32_t content, uint32_t other, bool is_by_place);

#endif
