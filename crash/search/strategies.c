/* The table of strategies. The first is the default. */
#include "crash/search/strategies.h"

#include <string.h>

const struct strategy *const strategies[] = { &strategy_lazy, &strategy_representative,
					      &strategy_eager, &strategy_prefix, NULL };

const struct strategy *strategy_find(const char *name)
{
	for (size_t i = 0; strategies[i]; i++)
		if (strcmp(strategies[i]->name, name) == 0)
			return strategies[i];
	return NULL;
}
