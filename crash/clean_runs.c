/* Runs recovery where nothing is lost, at the beginning and at the end of the trace: if it fails there, the checker is to blame and nothing is explored. The end of a
 * program that was killed is no such place: there, a failure is one of recovery, which exploring finds.
 * The walk to the end counts the failure points, and the runs give the time limit of all others. */
#include "crash/clean_runs.h"

#include "crash/search/blame.h"
#include "crash/states/news.h"

#define TIMEOUT_MIN_MS 2000u
#define TIMEOUT_FACTOR 10u

struct clean_run {
	struct runner *runner;
	const struct recovery *recovery;
	const uint64_t *newest;
	struct verdict verdict;
};

static int run_clean(struct clean_run *c, struct error *err)
{
	runner_begin(c->runner, c->newest, false);
	return verdict_run(&c->verdict, c->runner, c->recovery, NULL, err);
}

static int run_again(void *arg, struct error *err)
{
	struct clean_run again = *(const struct clean_run *)arg;

	if (run_clean(&again, err) < 0)
		return -1;
	return verdict_same(&again.verdict, &((const struct clean_run *)arg)->verdict);
}

/* A failure where nothing is lost, in words. */
static void tell_failure(struct clean_run *c, const char *which, struct error *err)
{
	const struct verdict *v = &c->verdict;
	/* before it is run again: the strings are the runner's */
	char *text = verdict_text(v), *errors = xasprintf("%s%.200s", v->result.errors_len ? ": " : "", v->result.errors_len ? v->result.errors : ""), *limit;
	enum runner_limit struck;
	struct error ignored;

	/* what hangs hangs for as long again */
	if (v->result.end != RUN_HUNG && blame_find(c->runner, v, run_again, c, &struck, &ignored) == BLAME_LIMIT) {
		limit = runner_limit_text(c->runner, struck);
		error_set(err, "recovery reached %s. It did so on the %s state, where nothing is lost (%s%s; %s), so nothing was explored", limit, which, text,
			  errors, v->command ? v->command->shown : "?");
		free(limit);
	} else {
		error_set(err, "recovery fails on the %s state, where nothing is lost: %s%s. Not the crash is to blame, but the checker (%s), "
			       "so nothing was explored",
			  which, text, errors, v->command ? v->command->shown : "?");
	}
	free(text);
	free(errors);
}

int clean_runs_not_opened(struct error *err)
{
	return error_set(err, "recovery opened no file of the trace; put {} where the pool's path belongs");
}

static int try_clean(struct walk *w, struct runner *runner, const struct recovery *c, const char *which, uint64_t *time_us,
		     struct error *err)
{
	struct state_set set = { 0 };
	struct clean_run run = { .runner = runner, .recovery = c };
	uint64_t *newest, start = clock_ns();
	int result;

	states_collect(&set, w->model);
	newest = states_newest(&set);
	runner_load(runner, &w->image, &set);
	run.newest = newest;
	result = run_clean(&run, err);
	if ((clock_ns() - start) / 1000 > *time_us)
		*time_us = (clock_ns() - start) / 1000;
	if (result == 0 && run.verdict.why_unsound) {
		result = error_set(err, "recovery cannot be run on crash states: %s", run.verdict.why_unsound);
	} else if (result == 0 && run.verdict.kind != VERDICT_OK) {
		tell_failure(&run, which, err);
		result = -1;
	}
	free(newest);
	states_release(&set);
	return result;
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

/* A PM file is there, for whoever looks for one. */
static bool has_file(const struct walk *w)
{
	for (size_t i = 1; i < w->image.files.n; i++)
		if (w->image.files.at[i].path && w->image.files.at[i].exists)
			return true;
	return false;
}

int clean_runs_try(const struct plan *p, const struct crash_options *o, struct runner *runner, struct crash_result *r, struct rep_points *points,
		    struct error *err)
{
	uint64_t time_us = 0;
	struct walk w;
	int result;

	if (!o->may_lack_news && !news_in(p))
		return error_set(err, "nothing could be explored: the program stored nothing new to persistent memory%s",
				 p->initial.n > 0 ? ", its files held the same before; start without them (--fresh), or give it something to do" : "");
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
	if (result == 0 && !runner_has_opened(runner) && has_file(&w))
		result = clean_runs_not_opened(err);
	r->timeout_ms = (uint32_t)(time_us / 1000 * TIMEOUT_FACTOR);
	if (r->timeout_ms < TIMEOUT_MIN_MS)
		r->timeout_ms = TIMEOUT_MIN_MS;
	walk_release(&w);
	return result;
}
