/* The crash states of one update behaviour at a failure point: of all that the model allows, those
 * in which only stores of the behaviour are lost, and what cannot survive without them (later
 * stores to their lines). Everything else has its newest content. */
#ifndef CRASH_STATES_STATES_OF_STORES_H
#define CRASH_STATES_STATES_OF_STORES_H

#include "crash/states/states.h"

/* seqs: the behaviour's stores, sorted. A bit set of the states' lines, which free() frees. */
uint64_t *states_of_stores(const struct state_set *s, const struct model *m, const uint64_t *seqs,
			   size_t nseqs);
/* Every state of one set is in the other. */
bool states_include(const struct state_set *s, const uint64_t *set, const uint64_t *other);

/* In this line, one content loses at least what another does. is_by_place: where the order is
 * partial, stores of one place of the program count as one: any of a loop's may be lost alone. */
bool states_loses(const struct state_set *s, const struct model *m, const struct state_line *l,
		  uint32_t content, uint32_t other, bool is_by_place);

#endif
