/* Of the conditions of a path, those that have to do with one step: they share input bytes with it,
 * directly or by way of others. */
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
	VEC(struct slice_byte) fixed; /* these have to stay */
	/* the result */
	VEC(struct solver_term) terms;
	size_t nfixed; /* of them, in front: about fixed bytes */
	/* inside */
	struct map bytes; /* by expression: the input bytes that it is about */
	VEC(uint32_t) seen, todo, found, group;
	uint32_t round;
	uint32_t own; /* group of the step */
};

void slice_release(struct slice *s);
/* has_pins: what was taken as concrete has to stay so. */
void slice_make(struct slice *s, const struct path *p, size_t step, bool has_pins);
/* the first byte of the input that the expression is about; UINT32_MAX: none */
uint32_t slice_byte(struct slice *s, uint32_t id);
/* of the input: it is one of those that the result shares */
bool slice_is_about(struct slice *s, uint32_t byte);
bool slice_has(const struct slice *s, struct solver_term t);

#endif
