/* Slices a path: keeps those conditions that share input bytes with one step, directly or through
 * others. For example, for the conditions
 *
 *	b0 == 'G',  b1 + b2 < 9,  b2 > 3,  b7 != 0       and the step  b1 == 5
 *
 * the slice is b1 + b2 < 9 and b2 > 3; the solver need not know the others, and their bytes
 * stay. */
#ifndef EXPLORE_SLICE_H
#define EXPLORE_SLICE_H

#include "explore/path/path.h"
#include "util/map.h"

struct slice_byte { /* of the input */
	uint64_t index;
	uint8_t value;
};

struct slice {
	struct expr_pool *pool;
	VEC(struct slice_byte) fixed; /* bytes that must keep their values */
	/* the result */
	VEC(struct solver_term) terms;
	size_t nfixed; /* the first of terms: conditions of fixed bytes */
	/* private to slice.c */
	struct map bytes; /* expression → input bytes that it uses */
	VEC(uint32_t) seen, todo, found, group;
	uint32_t round;
	uint32_t own; /* the step's group */
};

void slice_release(struct slice *s);
/* Makes the slice for this step: fills s->terms. has_pins: values that the tracer took as plain
 * numbers must stay as they are. */
void slice_make(struct slice *s, const struct path *p, size_t step, bool has_pins);
/* Gives the index of the first input byte that the expression uses; UINT32_MAX if it uses none. */
uint32_t slice_byte(struct slice *s, uint32_t id);
/* Asks whether the input byte is in the step's group: it is related to the step. */
bool slice_is_about(struct slice *s, uint32_t byte);
bool slice_has(const struct slice *s, struct solver_term t);

#endif
