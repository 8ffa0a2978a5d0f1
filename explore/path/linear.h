/* Solves sums. A program that reads "123" computes 100*(c0-'0') + 10*(c1-'0') + (c2-'0'); to make
 * that equal 507 is hard for a solver and easy by hand: take as much of the largest factor as fits,
 * then of the next. The result is a guess for the solver to confirm. */
#ifndef EXPLORE_LINEAR_H
#define EXPLORE_LINEAR_H

#include "explore/expr/expr.h"
#include "util/vec.h"

struct linear_part {
	uint32_t id;            /* an expression that is not a sum */
	uint64_t factor, value; /* value is the one that the part should have */
};
typedef VEC(struct linear_part) linear_parts;

/* Chooses values for the parts so that the sum has this value. The bytes of input tell which parts
 * are digits. False if there is no such choice. */
bool linear_solve(const struct expr_pool *pool, uint32_t sum, uint64_t value, const uint8_t *input,
		  size_t len_bytes, linear_parts *parts);

#endif
