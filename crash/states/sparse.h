/* Stores sets of crash states for later use, as the lines in which they differ from a set that
 * needs no memory: all states, or the one in which nothing is lost. */
#ifndef CRASH_STATES_SPARSE_H
#define CRASH_STATES_SPARSE_H

#include "crash/states/states.h"

enum sparse_base { SPARSE_ALL, SPARSE_NEWEST };

struct sparse_part {
	size_t line; /* index in lines of the set */
	size_t at;   /* index in words of the contents that are left */
};

struct sparse_set {
	enum sparse_base base;
	VEC(struct sparse_part) parts; /* ascending line */
	VEC(uint64_t) words;
};

/* Stores a set relative to all states, or to the newest. A zero-initialised sparse_set is all
 * states. */
void sparse_take(struct sparse_set *p, const struct state_set *s, const uint64_t *set,
		 enum sparse_base base);
/* Stores a set relative to all states or to the newest state: to the one from which the set differs
 * in fewer lines. */
void sparse_take_shorter(struct sparse_set *p, const struct state_set *s, const uint64_t *set);
void sparse_release(struct sparse_set *p);
/* Writes the bit set of all lines. */
void sparse_expand(const struct sparse_set *p, const struct state_set *s, uint64_t *set);
/* Is every state of the set `other` in the set p? Both must be stored relative to the newest state,
 * and contain it. */
bool sparse_include(const struct sparse_set *p, const struct state_set *s,
		    const struct sparse_set *other);

#endif
