/* Strategies choose which states of a failure point are tried. A new strategy is a struct and a row
 * of the table. */
#ifndef CRASH_SEARCH_STRATEGIES_H
#define CRASH_SEARCH_STRATEGIES_H

#include "crash/search/explorer.h"

extern const struct strategy strategy_lazy, strategy_representative, strategy_prefix;

extern const struct strategy *const strategies[]; /* ends with NULL; the first is the default */
const struct strategy *strategy_find(const char *name);

#endif
