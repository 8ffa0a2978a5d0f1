/* The strategies that go through the states of one failure point, and the table of all strategies.
 * `representative` also chooses failure points (crash/representative/); its part here is
 * by_behaviour.c. */
#include "crash/search/strategies.h"

#include <stdlib.h>
#include <string.h>

#include "crash/search/explorer_internal.h"

/* ---- lazy: an agenda that begins with all states ---- */

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

/* ---- eager: one run for every state ---- */

static int begin_eager(struct explorer *e, struct agenda *todo, struct error *err)
{
	uint64_t *all = states_all(&e->set);

	(void)err;
	agenda_add(e, todo, &(struct agenda_set){ .whole = whole_images_new(e, all) });
	free(all);
	return 0;
}

static const struct strategy strategy_eager = {
	.name = "eager", .is_whole = true, .help = "every state, one run each", .begin = begin_eager
};

/* ---- prefix: one run on the state in which nothing is lost ---- */

/* Makes one run. A lazy run also has the newest values, and tells what was read of bytes that may
 * be lost, or that differ in the window. */
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

/* ---- the table ---- */

const struct strategy *const strategies[] = { &strategy_lazy, &strategy_representative,
					      &strategy_eager, &strategy_prefix, NULL };

const struct strategy *strategy_find(const char *name)
{
	for (size_t i = 0; strategies[i]; i++)
		if (strcmp(strategies[i]->name, name) == 0)
			return strategies[i];
	return NULL;
}
