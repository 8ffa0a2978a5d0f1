/* Finds the values that an expression can have, if they are few: the possible targets of a jump
 * table. Conditions are ignored, so some of the values may be impossible. */
#ifndef EXPLORE_VALUES_H
#define EXPLORE_VALUES_H

#include "explore/expr/expr.h"
#include "util/vec.h"

#define VALUES_MAX 256

typedef VEC(uint64_t) values; /* ascending, without duplicates */

/* Lists the values of an expression. False if there are too many, or if they are unknown. */
bool values_find(const struct expr_pool *pool, uint32_t id, values *v);

#endif
