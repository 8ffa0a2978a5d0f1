/* The strategy `eager`: every state of a failure point, one run each. */
#include <stdlib.h>

#include "crash/search/explorer_internal.h"
#include "crash/search/strategies.h"

static int begin_eager(struct explorer *e, struct agenda *todo, struct error *err)
{
	uint64_t *all = states_all(&e->set);

	(void)err;
	agenda_add(e, todo, &(struct agenda_set){ .whole = whole_images_new(e, all) });
	free(all);
	return 0;
}

const struct strategy strategy_eager = {
	.name = "eager", .is_whole = true, .help = "every state, one run each", .begin = begin_eager
};
