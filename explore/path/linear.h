/* Numbers that a program reads digit by digit are sums of many bytes times powers of the base,
 * which a solver finds hard to turn round; by hand it is easy. What comes of it is a guess, for the
 * solver to confirm: which value each byte should have. */
#ifndef EXPLORE_LINEAR_H
#define EXPLORE_LINEAR_H

#include "explore/expr/expr.h"
#include "util/vec.h"

struct linear_part {
	uint32_t id;            /* an expression that is no sum */
	uint64_t factor, value; /* the value that it should have */
};
typedef VEC(struct linear_part) linear_parts;

/* How the sum could get this value; input: the bytes there are, from which follows what a digit
 * looks like. False: no way is seen. */
bool linear_solve(const struct expr_pool *pool, uint32_t sum, uint64_t value, const uint8_t *input,
		  size_t len_bytes, linear_parts *parts);

#endif
