/* Runs recovery on whole images, one state at a time, the newest first. Strategies that cannot or do not want to be lazy come here. */
#include <stdio.h>

#include "crash/search/explorer_internal.h"

int whole_state(struct explorer *e, const uint64_t *state, struct error *err)
{
	struct verdict v;

	if (explorer_run(e, state, false, &v, err) < 0)
		return -1;
	if (v.why_unsound) {
		snprintf(e->why_impossible, sizeof e->why_impossible, "%s", v.why_unsound);
		__atomic_fetch_add(&e->counters->impossible, 1, __ATOMIC_RELAXED);
		return 0;
	}
	return explorer_conclude(e, state, state, &v, err);
}

/* The next state of the set after `state`, in the order of an odometer. */
static bool next_state(const struct explorer *e, const uint64_t *set, uint64_t *state)
{
	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];
		uint32_t at = states_newest_left(l, state), first = at;

		while (at-- > 0)
			if (bit_get(set + l->set, at)) {
				states_only(l, state, at);
				return true;
			}
		first = states_newest_left(l, set);
		states_only(l, state, first);
	}
	return false;
}

/* Every state of a set, newest first. */
int whole_set(struct explorer *e, const uint64_t *set, struct error *err)
{
	uint64_t *state = explorer_state(e, set);
	int result = 0;

	do {
		if (!explorer_may_run(e))
			break;
		if (e->limits.sample && e->nruns >= e->limits.sample) {
			e->is_cut = true;
			break;
		}
		result = whole_state(e, state, err);
	} while (result == 0 && next_state(e, set, state));
	free(state);
	return result;
}

/* Laziness failed: the same states as whole images, as many as one point may have. */
#define FALLBACK_STATES 256

int whole_fall_back(struct explorer *e, const uint64_t *set, const char *why, struct error *err)
{
	uint64_t saved = e->limits.sample, nruns = e->nruns;
	int result;

	if (states_is_asked(&e->set)) { /* nobody tells what to ask for */
		e->asked.is_all = e->is_widened = true;
		return 0;
	}
	snprintf(e->why_fallback, sizeof e->why_fallback, "%s", why);
	__atomic_fetch_add(&e->counters->fallbacks, 1, __ATOMIC_RELAXED);
	if (!e->limits.sample)
		e->limits.sample = e->nruns + FALLBACK_STATES;
	result = whole_set(e, set, err);
	e->limits.sample = saved;
	__atomic_fetch_add(&e->counters->whole_runs, e->nruns - nruns, __ATOMIC_RELAXED);
	return result;
}
