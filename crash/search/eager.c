/* The strategy `eager`: every state of a failure point, one run each. */
#include <stdlib.h>

#include "crash/search/explorer_internal.h"
#include "crash/search/strategies.h"

static int explore_eager(struct explorer *e, struct error *err)
{
	uint64_t *all = states_all(&e->set);
	int result = whole_set(e, all, err);

	free(all);
	return result;
}

const struct strategy strategy_eager = { .name = "eager", .is_whole = true, .help = "every state, one run each", .explore = explore_eager };
