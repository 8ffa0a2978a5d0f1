/* Runs a failure again with all limits lifted: what fails all the same is the program's. Else with each limit lifted alone, to name the one that struck. */
#include "crash/search/blame.h"

#include <signal.h>

static int run_lifted(struct runner *r, unsigned limits, blame_run *again, void *arg, struct error *err)
{
	int fails;

	runner_lift(r, limits);
	fails = again(arg, err);
	runner_lift(r, 0);
	return fails;
}

enum blame blame_find(struct runner *r, const struct verdict *v, blame_run *again, void *arg, enum runner_limit *which, struct error *err)
{
	int fails;

	*which = RUNNER_LIMIT_FILE;
	if (v->kind == VERDICT_SIGNAL && v->code == SIGXFSZ)
		return BLAME_LIMIT; /* nothing else sends it */
	fails = run_lifted(r, (1u << RUNNER_LIMITS) - 1, again, arg, err);
	if (fails != 0)
		return fails < 0 ? BLAME_ERROR : BLAME_PROGRAM;
	fails = run_lifted(r, 0, again, arg, err);
	if (fails <= 0)
		return fails < 0 ? BLAME_ERROR : BLAME_CHANCE;
	for (int i = 0; i < RUNNER_LIMITS; i++) {
		fails = run_lifted(r, 1u << i, again, arg, err);
		*which = (enum runner_limit)i;
		if (fails <= 0)
			return fails < 0 ? BLAME_ERROR : BLAME_LIMIT;
	}
	return BLAME_CHANCE;
}
