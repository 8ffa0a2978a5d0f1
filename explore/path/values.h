/* Which values an expression can have, if they are few: where a jump table can lead. More than
 * there really are, because conditions are not looked at. */
#ifndef EXPLORE_VALUES_H
#define EXPLORE_VALUES_H

#include "explore/expr/expr.h"
#include "util/vec.h"

#define VALUES_MAX 256

typedef VEC(uint64_t) values; /* ascending, each once */

/* False: too many, or not known. */
bool values_find(const struct expr_pool *pool, uint32_t id, values *v);

#endif
