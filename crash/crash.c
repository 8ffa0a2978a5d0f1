/* Explores all crashes of a recorded run. Recovery must first cope with the states where nothing is
 * lost, and the workers' images must fit into memory; then work.c explores. The results of earlier
 * runs and of other shards are added here. */
#include "crash/crash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "crash/beside_looks.h"
#include "crash/clean_runs.h"
#include "crash/creation.h"
#include "crash/findings/findings.h"
#include "crash/missing.h"
#include "crash/part.h"
#include "crash/work.h"
#include "serve/processes.h"

/* processes that a worker and its recovery may need at the same time */
#define PROCESSES_EACH 64u

/* ---- preparations ---- */

static void keep_objects(struct crash_result *r, const struct runner *runner,
			 const struct recovery *c)
{
	for (int part = 0; part < PART_N; part++) {
		const struct runner_command *command =
			recovery_command(c, (enum recovery_part)part);
		const struct trace_object *list;
		size_t n = command ? runner_objects(runner, command, &list) : 0;

		for (size_t i = 0; i < n; i++) {
			struct trace_object *o = vec_add(&r->objects[part]);

			*o = list[i];
			o->path = xstrdup(list[i].path);
			o->id = (uint32_t)(i * PART_N) + (uint32_t)part;
		}
	}
}

/* Reduces the number of workers to those whose images fit into the chosen folder. used_bytes: the
 * size of one image. */
static void fit_room(struct crash_options *o, struct crash_result *r, uint64_t used_bytes)
{
	const uint64_t jobs = o->jobs < r->npoints ? o->jobs : r->npoints;
	uint64_t has_bytes, fit;

	if (o->runner.folder || jobs < 2)
		return;
	o->runner.folder = runner_room(jobs * used_bytes, &has_bytes);
	fit = has_bytes / used_bytes;
	if (fit >= jobs)
		return;
	o->jobs = fit > 1 ? (uint32_t)fit : 1;
	r->why_slower = xasprintf(
		"%u jobs instead of %llu: %s has no space for more images (set TMPDIR to a folder with more)",
		o->jobs, (unsigned long long)jobs, o->runner.folder);
}

/* Reduces the number of workers further, so that the user's limit of processes is not reached: a
 * recovery that cannot fork for that reason must not count as failed. */
static void fit_processes(struct crash_options *o, struct crash_result *r)
{
	const uint64_t jobs = o->jobs < r->npoints ? o->jobs : r->npoints;
	const uid_t uid = getuid();
	struct rlimit most;
	uint64_t has, room;

	if (jobs < 2 || uid == 0 || getrlimit(RLIMIT_NPROC, &most) < 0 ||
	    most.rlim_cur == RLIM_INFINITY)
		return;
	has = processes_count_threads(uid);
	room = most.rlim_cur > has ? most.rlim_cur - has : 0;
	if (room / PROCESSES_EACH >= jobs)
		return;
	o->jobs = room / PROCESSES_EACH > 1 ? (uint32_t)(room / PROCESSES_EACH) : 1;
	free(r->why_slower);
	r->why_slower =
		xasprintf("%u jobs instead of %llu: 'ulimit -u' leaves room for %llu processes",
			  o->jobs, (unsigned long long)jobs, (unsigned long long)room);
}

static int prepare(const struct plan *p, struct crash_options *o, struct references *refs,
		   struct rep_points *points, struct share *share, crash_events *window_ends,
		   struct crash_result *r, struct error *err)
{
	struct runner *runner = runner_new(&o->runner, p->mappings.at, p->mappings.n, err);
	/* for a shard without failure points; NULL would mean all of them */
	static const uint64_t none;
	const bool is_part = o->shard.of > 0;
	crash_events crashes = { 0 };
	uint64_t used_bytes;
	int result;

	if (!runner)
		return -1;
	result = clean_runs_try(p, o, runner, r, points, share, o->recovery->dump ? &crashes : NULL,
				window_ends, err);
	if (!o->strategy->is_representative)
		r->nshare = share->n;
	if (o->runner.timeout_ms)
		r->timeout_ms = o->runner.timeout_ms;
	o->runner.timeout_ms = r->timeout_ms;
	o->limits.needs_pool = r->needs_pool;
	if (o->recovery->dump && !o->allowed)
		r->why_no_dump = plan_why_no_operations(p);
	refs->points = crashes.at;
	refs->npoints = crashes.n;
	if (result == 0 && !missing_has_died(r) && work_wants_references(o, r) &&
	    !o->strategy->is_representative)
		result = references_take(refs, p, runner, o->recovery,
					 is_part ? (crashes.at ? crashes.at : &none) : NULL,
					 is_part ? crashes.n : 0, err);
	refs->points = NULL;
	refs->npoints = 0;
	vec_release(&crashes);
	if (result == 0)
		keep_objects(r, runner, o->recovery);
	r->counters.has_opened = runner_has_opened(runner);
	r->has_roi = runner_has_roi(runner);
	/* each worker's first run is then judged like its others */
	o->runner.has_roi |= r->has_roi;
	used_bytes = runner_room_bytes(runner);
	runner_free(runner);
	if (result == 0) {
		fit_room(o, r, used_bytes);
		fit_processes(o, r);
	}
	return result;
}

/* ---- the exploration ---- */

/* Did recovery open a PM file, or ask for one that never existed? */
static bool has_used_pool(const struct crash_counters *c)
{
	return c->has_opened || (c->has_missed && !c->had_file);
}

/* Makes the merged result of all shards (o->sum) the result so far. The conclusions that are still
 * to be drawn depend on all shards. */
static void take_sum(const struct plan *p, struct crash_options *o, struct rep_points *points,
		     struct crash_result *r)
{
	*r = *o->sum;
	*o->sum = (struct crash_result){ 0 };
	o->runner.timeout_ms = r->timeout_ms;
	o->runner.has_roi |= r->has_roi;
	o->limits.needs_pool = r->needs_pool;
	if (o->recovery->dump && !o->allowed)
		r->why_no_dump = plan_why_no_operations(p);
	if (o->strategy->is_representative)
		rep_points_list(points, p, o->stops);
}

/* Adds the saved result of an earlier run of this shard. */
static int take_done(struct crash_result *r, struct crash_result *done, struct error *err)
{
	/* with representative testing, the share is known only when the failure points are
	 * chosen */
	if ((r->nshare && done->nshare != r->nshare) || done->npoints != r->npoints)
		return error_set(
			err,
			"the saved part of an earlier run is damaged; remove it and start again");
	done->nshare = 0;
	part_add(r, done);
	return 0;
}

/* May one run stand for several failure points? Only if it tells the same about each of them. Races
 * and second crashes need more per run, a server does not read the same each time, and runs on
 * whole images do not tell what they read. */
static bool has_windows(const struct crash_options *o)
{
	return (o->strategy == &strategy_lazy || o->strategy == &strategy_prefix) &&
	       !o->races.is_wanted && !o->wants_first_crashes && !o->recovery->ready &&
	       !o->recovery->wants_changes;
}

int crash_explore(const struct plan *p, const struct crash_options *options, struct crash_result *r,
		  struct error *err)
{
	struct crash_options o = *options;
	struct references refs = { .deadline_ns = options->limits.deadline_ns,
				   .texts = &r->texts,
				   .index = options->index };
	struct rep_points points = { 0 };
	struct share share = { 0 };
	crash_events window_ends = { 0 };
	int result = 0;

	*r = (struct crash_result){ 0 };
	o.races.has_turns = o.shard.of > 0;
	o.window_ends = &window_ends;
	if (o.window == 0 || !has_windows(&o))
		o.window = 1;
	if (o.sum)
		take_sum(p, &o, &points, r);
	else
		result = prepare(p, &o, &refs, &points, &share, &window_ends, r, err);
	if (result == 0 && o.done)
		result = take_done(r, o.done, err);
	if (refs.is_late)
		r->counters.is_late = 1;
	else if (result == 0 && !missing_has_died(r))
		result = work_on_all(p, &o, &refs, &points, &share, r, err);
	else if (result == 0 && o.keep)
		o.keep(r, o.keep_arg);
	if (result == 0 && r->counters.begun > 0 && r->bugs.n == 0 && !has_used_pool(&r->counters))
		result = clean_runs_not_opened(o.recovery, err);
	findings_sort(r);
	if (result == 0 && !o.shard.of)
		creation_find(p, &o, r);
	missing_find(&r->why_incomplete, p, &o, r, o.is_interrupted && o.is_interrupted(o.arg),
		     result < 0 ? err->msg : NULL);
	r->is_broken_off = (trace_damage(p->trace) && !trace_is_cut_off(p->trace)) ||
			   (o.is_interrupted && o.is_interrupted(o.arg));
	r->is_exhausted = result == 0 && r->why_incomplete.n == 0;
	/* failures were already tried with other contents of these files, successes were not */
	if (r->is_exhausted && !o.shard.of)
		r->beside = beside_looks_find(p, &o, r->npoints);
	missing_find_beside(&r->why_incomplete, r);
	r->is_complete = result == 0 && r->why_incomplete.n == 0;
	r->is_watched = o.strategy == &strategy_lazy && r->counters.fallbacks == 0;
	r->is_own = !o.sum && !o.done && !o.shard.of;
	r->knows_reads = r->is_exhausted && r->is_watched && r->is_own;
	references_release(&refs);
	share_release(&share);
	vec_release(&window_ends);
	vec_release(&points.list);
	return result;
}
