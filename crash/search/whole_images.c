/* Runs recovery on whole images, one state at a time, the newest first. Strategies use this if lazy
 * runs are impossible, or not wanted. */
#include <stdio.h>

#include "crash/search/explorer_internal.h"

int whole_images_run(struct explorer *e, const uint64_t *state, struct error *err)
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

/* Changes `state` to the next state of the set, like an odometer. False after the last. */
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

static void keep_next(struct whole_images *w, const struct explorer *e, const uint64_t *state)
{
	sparse_take(&w->next, &e->set, state, SPARSE_NEWEST);
}

struct whole_images *whole_images_new(const struct explorer *e, const uint64_t *set)
{
	struct whole_images *w = xcalloc(1, sizeof *w);
	uint64_t *state = explorer_state(e, set);

	keep_next(w, e, state);
	free(state);
	return w;
}

struct whole_images *whole_images_fall_back(struct explorer *e, const uint64_t *set,
					    const char *why)
{
	struct whole_images *w;

	if (states_is_asked(&e->set)) { /* whole images do not show which bytes to ask for */
		e->asked.is_all = e->is_widened = true;
		return NULL;
	}
	snprintf(e->why_fallback, sizeof e->why_fallback, "%s", why);
	__atomic_fetch_add(&e->counters->fallbacks, 1, __ATOMIC_RELAXED);
	w = whole_images_new(e, set);
	w->is_fallback = true;
	return w;
}

void whole_images_free(struct whole_images *w)
{
	if (w)
		sparse_release(&w->next);
	free(w);
}

/* States that one set may run after a lazy run did not work, if there is no --sample. */
#define FALLBACK_STATES 256

static bool is_enough(struct explorer *e, const struct whole_images *w)
{
	if (explorer_is_sampled(e))
		return true;
	if (!w->is_fallback || e->limits.sample || w->nruns < FALLBACK_STATES)
		return false;
	e->is_cut = true;
	return true;
}

/* Continues with the state w->next; the newest states come first. */
int whole_images_go_on(struct explorer *e, struct whole_images *w, const uint64_t *set,
		       bool *is_over, struct error *err)
{
	uint64_t *state = states_all(&e->set), nruns = e->nruns;
	int result = 0;

	sparse_expand(&w->next, &e->set, state);
	*is_over = false;
	while (result == 0 && !*is_over && explorer_may_run(e) && !explorer_is_paused(e)) {
		const uint64_t before = e->nruns;

		*is_over = is_enough(e, w);
		if (*is_over)
			break;
		result = whole_images_run(e, state, err);
		w->nruns += e->nruns - before;
		*is_over = !next_state(e, set, state);
	}
	keep_next(w, e, state);
	free(state);
	if (w->is_fallback)
		__atomic_fetch_add(&e->counters->whole_runs, e->nruns - nruns, __ATOMIC_RELAXED);
	return result;
}
