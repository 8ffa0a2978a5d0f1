/* Runs recovery where nothing is lost, at the beginning and at the end of the trace: if it fails there, the checker is to blame and nothing is explored. The end of a
 * program that was killed is no such place: there, a failure is one of recovery, which exploring finds.
 * The walk to the end counts the failure points, and the runs give the time limit of all others. */
#include "crash/clean_runs.h"

#define TIMEOUT_MIN_MS 2000u
#define TIMEOUT_FACTOR 10u

static int try_clean(struct walk *w, struct runner *runner, const struct recovery *c, const char *which, uint64_t *time_us,
		     struct error *err)
{
	struct state_set set = { 0 };
	uint64_t *newest, start = clock_ns();
	struct verdict v;
	char *text;
	int result;

	states_collect(&set, w->model);
	newest = states_newest(&set);
	runner_load(runner, &w->image, &set);
	runner_begin(runner, newest, false);
	free(newest);
	result = verdict_run(&v, runner, c, NULL, err);
	states_release(&set);
	if ((clock_ns() - start) / 1000 > *time_us)
		*time_us = (clock_ns() - start) / 1000;
	if (result == 0 && v.why_unsound)
		return error_set(err, "recovery cannot be run on crash states: %s", v.why_unsound);
	if (result < 0 || v.kind == VERDICT_OK)
		return result;
	text = verdict_text(&v);
	error_set(err, "recovery fails on the %s state, where nothing is lost: %s%s%.200s. Not the crash is to blame, but the checker (%s), "
		       "so nothing was explored",
		  which, text, v.result.errors_len ? ": " : "", v.result.errors_len ? v.result.errors : "",
		  v.command ? v.command->shown : "?");
	free(text);
	return -1;
}

/* Before anything was stored that may be lost: at the first failure point, the first operation is in progress already. */
static int try_begin(const struct plan *p, const struct crash_options *o, struct runner *runner, uint64_t *time_us, struct error *err)
{
	struct walk w;
	int result;

	walk_init(&w, p, o->stops);
	walk_enter(&w);
	result = try_clean(&w, runner, o->recovery, "initial", time_us, err);
	walk_release(&w);
	return result;
}

int clean_runs_try(const struct plan *p, const struct crash_options *o, struct runner *runner, struct crash_result *r, struct rep_points *points,
		    struct error *err)
{
	uint64_t time_us = 0;
	struct walk w;
	int result;

	walk_init(&w, p, o->stops);
	if (!walk_next(&w)) {
		walk_release(&w);
		return error_set(err, "%s holds no failure point: nothing was stored to persistent memory%s", p->path,
				 p->has_roi ? " inside the region of interest" : "");
	}
	result = try_begin(p, o, runner, &time_us, err);
	do
		if (o->strategy->is_representative)
			rep_points_add(points, &w);
	while (result == 0 && walk_next(&w));
	r->npoints = w.point;
	if (result == 0 && !p->is_cut)
		result = try_clean(&w, runner, o->recovery, "final", &time_us, err);
	r->timeout_ms = (uint32_t)(time_us / 1000 * TIMEOUT_FACTOR);
	if (r->timeout_ms < TIMEOUT_MIN_MS)
		r->timeout_ms = TIMEOUT_MIN_MS;
	walk_release(&w);
	return result;
}
