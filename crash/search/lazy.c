/* The strategy `lazy`, the default: one agenda, which begins with all states of the failure
 * point. */
#include "crash/search/explorer_internal.h"
#include "crash/search/strategies.h"

static int begin_lazy(struct explorer *e, struct agenda *todo, struct error *err)
{
	const struct agenda_set all = agenda_begin(e, 0);

	(void)err;
	agenda_add(e, todo, &all);
	return 0;
}

int explorer_again(struct explorer *e, uint64_t max_runs, struct error *err)
{
	uint64_t sample = e->limits.sample;
	bool is_cut = e->is_cut;
	struct agenda todo = { 0 };
	int result;

	runner_load(e->runner, &e->walk->image, &e->set);
	e->nruns = 0;
	e->limits.sample = max_runs;
	e->is_diagnosis = true;
	result = begin_lazy(e, &todo, err);
	if (result == 0)
		result = agenda_explore(e, &todo, err);
	agenda_release(&todo);
	e->is_diagnosis = false;
	e->limits.sample = sample;
	e->is_cut = is_cut;
	return result;
}

const struct strategy strategy_lazy = { .name = "lazy",
					.help = "states refined by what recovery reads (default)",
					.begin = begin_lazy };
