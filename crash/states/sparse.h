/* Sets of crash states that are kept for later, as the lines in which they differ from a set that
 * needs no memory: all states, or the one in which nothing is lost. */
#ifndef CRASH_STATES_SPARSE_H
#define CRASH_STATES_SPARSE_H

#include "crash/states/states.h"

enum sparse_base { SPARSE_ALL, SPARSE_NEWEST };

struct sparse_part {
	size_t line; /* index in lines */
	size_t at;   /* index in words of its contents left */
};

struct sparse_set {
	enum sparse_base base;
	VEC(struct sparse_part) parts; /* by line */
	VEC(uint64_t) words;
};

/* Zero-initialised is all states. */
void sparse_take(struct sparse_set *p, const struct state_set *s, const uint64_t *set,
		 enum sparse_base base);
/* From whichever it differs less. */
void sparse_take_shorter(struct sparse_set *p, const struct state_set *s, const uint64_t *set);
void sparse_release(struct sparse_set *p);
/* The bit set of all lines that it stands for. */
void sparse_expand(const struct sparse_set *p, const struct state_set *s, uint64_t *set);
/* Every state of the other is in this one. Both are from the newest, and have it. */
bool sparse_include(const struct sparse_set *p, const struct state_set *s,
		    const struct sparse_set *other);

#endif
