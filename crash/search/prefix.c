/* The strategy `prefix`: one state a failure point, that in which nothing is lost. */
#include <stdlib.h>

#include "crash/search/explorer_internal.h"
#include "crash/search/strategies.h"

/* A lazy run takes the newest values, too, and tells what was read: of what may be lost, or of what
 * differs in the window. */
static int begin_prefix(struct explorer *e, struct agenda *todo, struct error *err)
{
	const bool is_lazy = e->wants_reads || (e->window && !e->is_unwatched);
	uint64_t *newest = states_newest(&e->set), *all = states_all(&e->set);
	struct verdict v;
	int result = 0;

	(void)todo;
	if (e->wants_reads)
		result = explorer_run(e, all, true, &v, err);
	else if (is_lazy)
		result = explorer_run_lazily(e, newest, &v, err);
	if (result < 0 || !is_lazy || v.why_unsound) {
		result = result < 0 ? -1 : whole_images_run(e, newest, err);
	} else if (!explorer_widen(e)) {
		result = explorer_conclude(e, e->wants_reads ? all : newest, newest, &v, err);
	}
	free(newest);
	free(all);
	return result;
}

const struct strategy strategy_prefix = { .name = "prefix",
					  .help = "one state per failure point: nothing lost",
					  .is_single = true,
					  .begin = begin_prefix };
