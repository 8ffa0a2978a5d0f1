/* The strategy `lazy`, the default: one agenda, which begins with all states of the failure point. */
#include "crash/search/explorer_internal.h"
#include "crash/search/strategies.h"

static int explore_lazy(struct explorer *e, struct error *err)
{
	struct agenda todo = { 0 };
	int result;

	*vec_add(&todo.sets) = agenda_begin(e, NULL);
	result = agenda_explore(e, &todo, err);
	agenda_release(&todo);
	return result;
}

int explorer_again(struct explorer *e, uint64_t max_runs, struct error *err)
{
	uint64_t sample = e->limits.sample;
	bool is_cut = e->is_cut;
	int result;

	runner_load(e->runner, &e->walk->image, &e->set);
	e->nruns = 0;
	e->limits.sample = max_runs;
	e->is_diagnosis = true;
	result = explore_lazy(e, err);
	e->is_diagnosis = false;
	e->limits.sample = sample;
	e->is_cut = is_cut;
	return result;
}

const struct strategy strategy_lazy = { .name = "lazy", .help = "states refined by what recovery reads (default)", .explore = explore_lazy };
