/* Repeats a failing run without any limit: if it fails again, the program is to blame. Otherwise
 * repeats it without each limit alone, to find the limit that struck. */
#include "crash/search/blame.h"

#include <signal.h>

#define ALL ((1u << RUNNER_LIMITS) - 1)

struct trials {
	struct runner *r;
	bool is_clean;
	blame_run *again;
	void *arg;
	struct error *err;
};

static enum blame_again run_without(const struct trials *t, unsigned limits)
{
	enum blame_again end;

	runner_lift(t->r, limits, t->is_clean);
	end = t->again(t->arg, t->err);
	runner_lift(t->r, 0, false);
	return end;
}

/* Finds the limit that made the run fail, which does not fail without all limits. If it takes two,
 * names the first without which removing the others does not help. */
static enum blame name_limit(const struct trials *t, enum runner_limit *which)
{
	enum blame_again end;

	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < RUNNER_LIMITS; i++) {
			end = run_without(t, pass == 0 ? 1u << i : ALL & ~(1u << i));
			*which = (enum runner_limit)i;
			if (end == AGAIN_ERROR)
				return BLAME_ERROR;
			if ((end == AGAIN_FINE) == (pass == 0))
				return BLAME_LIMIT;
		}
	return BLAME_CHANCE;
}

enum blame blame_find(struct runner *r, const struct verdict *v, bool is_clean, blame_run *again,
		      void *arg, enum runner_limit *which, struct error *err)
{
	const struct trials t = { r, is_clean, again, arg, err };
	enum blame_again end, limited;
	bool is_excess;

	*which = RUNNER_LIMIT_FILE;
	if (v->kind == VERDICT_SIGNAL && v->code == SIGXFSZ)
		return BLAME_LIMIT; /* only the kernel sends it, when a limit is reached */
	end = run_without(&t, ALL);
	is_excess = runner_exceeded(r, which);
	if (end == AGAIN_ERROR || end == AGAIN_SAME)
		return end == AGAIN_ERROR ? BLAME_ERROR : is_excess ? BLAME_EXCESS : BLAME_PROGRAM;
	limited = run_without(&t, 0);
	if (limited != AGAIN_SAME)
		return limited == AGAIN_ERROR ? BLAME_ERROR : BLAME_CHANCE;
	if (end == AGAIN_OTHER)
		return is_excess ? BLAME_EXCESS : BLAME_PROGRAM;
	return name_limit(&t, which);
}
