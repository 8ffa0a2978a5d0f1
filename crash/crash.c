/* Explores all crashes of a recorded run: first recovery must cope with the states where nothing is lost, then workers share the failure points, or one wave
 * after the other of those that representative testing chooses. */
#include "crash/crash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "crash/clean_runs.h"
#include "crash/findings.h"
#include "crash/outputs_judge.h"
#include "crash/workers.h"
#include "serve/processes.h"

#define PROCESSES_EACH 64u /* that a worker and its recovery may have at a time before they are in the way of others */

/* ---- before ---- */

static void keep_objects(struct crash_result *r, const struct runner *runner, const struct recovery *c)
{
	for (int part = 0; part < PART_N; part++) {
		const struct runner_command *command = recovery_command(c, (enum recovery_part)part);
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

static bool wants_references(const struct crash_options *o, const struct crash_result *r)
{
	return o->recovery->dump && !o->allowed && !r->why_no_dump;
}

/* Where nothing is lost: then there is nothing to explore. */
static bool has_died(const struct crash_result *r)
{
	return r->bugs.n > 0 && r->bugs.at[0].is_clean;
}

/* As many workers as there is room for their images, in a folder that has it. used_bytes: what one took where nothing is lost. */
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
	r->why_slower = xasprintf("%u jobs instead of %llu: %s has no room for more images (set TMPDIR to a folder with more)", o->jobs, (unsigned long long)jobs, o->runner.folder);
}

/* ... and as many as may have processes at the same time: one whose recovery finds no room for another process must not take that for its failure. */
static void fit_processes(struct crash_options *o, struct crash_result *r)
{
	const uint64_t jobs = o->jobs < r->npoints ? o->jobs : r->npoints;
	const uid_t uid = getuid();
	struct rlimit most;
	uint64_t has, room;

	if (jobs < 2 || uid == 0 || getrlimit(RLIMIT_NPROC, &most) < 0 || most.rlim_cur == RLIM_INFINITY)
		return;
	has = processes_count_threads(uid);
	room = most.rlim_cur > has ? most.rlim_cur - has : 0;
	if (room / PROCESSES_EACH >= jobs)
		return;
	o->jobs = room / PROCESSES_EACH > 1 ? (uint32_t)(room / PROCESSES_EACH) : 1;
	free(r->why_slower);
	r->why_slower = xasprintf("%u jobs instead of %llu: 'ulimit -u' leaves room for %llu processes", o->jobs, (unsigned long long)jobs, (unsigned long long)room);
}

static int prepare(const struct plan *p, struct crash_options *o, struct references *refs, struct rep_points *points, struct crash_result *r,
		   struct error *err)
{
	struct runner *runner = runner_new(&o->runner, p->mappings.at, p->mappings.n, err);
	uint64_t used_bytes;
	int result;

	if (!runner)
		return -1;
	result = clean_runs_try(p, o, runner, r, points, err);
	if (o->runner.timeout_ms)
		r->timeout_ms = o->runner.timeout_ms;
	o->runner.timeout_ms = r->timeout_ms;
	o->limits.needs_pool = r->needs_pool;
	if (o->recovery->dump && !o->allowed)
		r->why_no_dump = plan_why_no_operations(p);
	if (result == 0 && !has_died(r) && wants_references(o, r) && !o->strategy->is_representative)
		result = references_take(refs, p, runner, o->recovery, NULL, 0, err);
	if (result == 0)
		keep_objects(r, runner, o->recovery);
	r->counters.has_opened = runner_has_opened(runner);
	o->runner.has_roi |= runner_has_roi(runner); /* each worker's first run is judged like all others */
	used_bytes = runner_room_bytes(runner);
	runner_free(runner);
	if (result == 0) {
		fit_room(o, r, used_bytes);
		fit_processes(o, r);
	}
	return result;
}

/* ---- what is missing ---- */

/* Who ended the exploration before it was done. Without a budget it was pmend itself. */
static const char *who_ended(const struct crash_options *o, const struct crash_result *r)
{
	if (r->counters.is_late && o->limits.deadline_ns)
		return "the budget ended (--max-time)";
	return o->limits.max_runs ? "the budget ended (--max-runs)" : "pmend stopped early, for no reason that it knows,";
}

/* What was tested on behalf of what, in words. */
static char *what_is_represented(const struct crash_options *o, const struct crash_result *r)
{
	const struct representatives *reps = r->representatives;
	struct rep_account a;

	representatives_account(reps, &a);
	if (a.groups_tested < a.groups)
		return xasprintf("%s after %llu of %llu groups of update behaviours; %llu of them had their first runs", who_ended(o, r), (unsigned long long)a.groups_tested,
				 (unsigned long long)a.groups, (unsigned long long)a.groups_begun);
	return xasprintf("%llu of %llu update behaviours were tested, one for each group; what only the others do was not seen",
			 (unsigned long long)a.tested, (unsigned long long)a.behaviours);
}

/* A decimal number, which may have hundreds of digits. Takes it; free() what it gives. */
static char *readable(char *decimal)
{
	const size_t n = strlen(decimal);
	char *text = n > 15 ? xasprintf("about %c.%ce%zu", decimal[0], decimal[1], n - 1) : xstrdup(decimal);

	free(decimal);
	return text;
}

/* What a strategy leaves out that tries one state per failure point; NULL: there are no others. */
static char *what_is_lost(const struct crash_result *r, const struct strategy *s)
{
	char *seen = big_string(&r->states_seen), *all = big_string(&r->states_all), *text = NULL;

	if (strcmp(seen, all) != 0) {
		seen = readable(seen);
		all = readable(all);
		text = xasprintf("--strategy %s tries only states in which nothing is lost: %s of %s crash states", s->name, seen, all);
	}
	free(seen);
	free(all);
	return text;
}

/* How far it came when it was ended. */
static char *what_was_begun(const char *end, const struct crash_result *r)
{
	const struct crash_counters *c = &r->counters;
	char *text = xasprintf("%s after %llu of %llu failure points", end, (unsigned long long)c->begun, (unsigned long long)r->npoints), *longer;

	if (c->begun == c->points)
		return text;
	longer = xasprintf("%s, of which %llu have states left", text, (unsigned long long)(c->begun - c->points));
	free(text);
	return longer;
}

/* The first reason why the exploration is not complete, in words; NULL if there is none. failure: why pmend itself could not go on; NULL: it could. */
static char *first_reason(const struct plan *p, const struct crash_options *o, const struct crash_result *r, bool is_interrupted, const char *failure)
{
	const struct crash_counters *c = &r->counters;

	if (trace_damage(p->trace) && !trace_is_cut_off(p->trace)) /* of a process that was killed, all is there */
		return xstrdup(trace_damage(p->trace));
	if (has_died(r))
		return xstrdup("recovery dies although nothing is lost, so no crash state was explored");
	if (failure)
		return xasprintf("pmend failed after %llu of %llu failure points: %s", (unsigned long long)c->begun,
				 (unsigned long long)r->npoints, failure);
	if (is_interrupted)
		return what_was_begun("interrupted", r);
	if (r->representatives)
		return what_is_represented(o, r);
	if (c->points < r->npoints)
		return what_was_begun(who_ended(o, r), r);
	if (c->cut_points > 0)
		return xasprintf("%llu of %llu failure points have more states than --sample allowed runs",
				 (unsigned long long)c->cut_points, (unsigned long long)r->npoints);
	if (!p->is_exact)
		return xstrdup("some lines were stored to so often that only some of their states were kept");
	if (c->unstable > 0)
		return xasprintf("%llu failures could not be reproduced: recovery depends on more than the crash state",
				 (unsigned long long)c->unstable);
	if (r->why_no_dump)
		return xasprintf("the dump was not compared: %s", r->why_no_dump);
	if (c->uncompared > 0)
		return xasprintf("the dump was not compared at %llu of %llu failure points, where too many operations were in progress",
				 (unsigned long long)c->uncompared, (unsigned long long)r->npoints);
	if (o->strategy->is_single)
		return what_is_lost(r, o->strategy);
	return NULL;
}

/* Puts a further reason behind. Takes both. */
static char *and_also(char *first, char *further)
{
	char *both = first ? xasprintf("%s; %s", first, further) : further;

	if (first)
		free(further);
	free(first);
	return both;
}

static size_t count_untried(const struct crash_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->races.n; i++)
		n += r->races.at[i].state == RACE_UNTRIED;
	return n;
}

/* All that a user can do something about is said, whatever else is. */
static char *what_is_missing(const struct plan *p, const struct crash_options *o, const struct crash_result *r, bool is_interrupted, const char *failure)
{
	const struct crash_counters *c = &r->counters;
	char *text = first_reason(p, o, r, is_interrupted, failure);

	if (c->unconfirmed > 0)
		text = and_also(text, xstrdup("one recovery reached its time limit (--timeout), and --max-time left no time to repeat it"));
	if (count_untried(r) > 0)
		text = and_also(text, xasprintf("%zu reads of data that a crash may lose were not classified", count_untried(r)));
	if (c->has_moved)
		text = and_also(text, xstrdup("recovery mapped a PM file at another address, because something else was at its own; failures there "
					      "were not counted"));
	if (c->impossible > 0)
		text = and_also(text, xasprintf("recovery could not be run on %llu states: %s", (unsigned long long)c->impossible,
						r->why_impossible ? r->why_impossible : "?"));
	return text;
}

/* ---- all of it ---- */

static int compare_events(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* What a dump may print after the crashes of this wave: most operations of a long run are never asked about. */
static int take_references(const struct plan *p, const struct crash_options *o, struct references *refs, const struct representatives *reps,
			   struct error *err)
{
	struct runner *runner = runner_new(&o->runner, p->mappings.at, p->mappings.n, err);
	uint64_t *crashes = xcalloc(reps->stops.n, sizeof *crashes);
	int result = -1;

	for (size_t i = 0; i < reps->stops.n; i++)
		crashes[i] = reps->points.list.at[reps->stops.at[i].point - 1].seq;
	qsort(crashes, reps->stops.n, sizeof *crashes, compare_events);
	if (runner)
		result = references_take(refs, p, runner, o->recovery, crashes, reps->stops.n, err);
	runner_free(runner);
	free(crashes);
	return result;
}

static int work_in_waves(const struct plan *p, const struct crash_options *o, struct references *refs, struct rep_points *points,
			 struct crash_result *r, struct crash_counters *counters, struct error *err)
{
	int result = 0;

	r->representatives = representatives_new(p, points, &o->types);
	while (result == 0 && !counters->is_stopped && representatives_next(r->representatives)) {
		if (wants_references(o, r))
			result = take_references(p, o, refs, r->representatives, err);
		if (refs->is_late)
			counters->is_stopped = counters->is_late = 1;
		else if (result == 0)
			result = workers_run(p, o, refs, r, counters, err);
	}
	return result;
}

static int work(const struct plan *p, const struct crash_options *o, struct references *refs, struct rep_points *points, struct crash_result *r,
		struct error *err)
{
	struct crash_counters *counters =
		mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int result;

	if (counters == MAP_FAILED)
		alloc_die();
	result = o->strategy->is_representative ? work_in_waves(p, o, refs, points, r, counters, err) : workers_run(p, o, refs, r, counters, err);
	if (result == 0 && o->watches_output && !counters->is_stopped && counters->points == r->npoints)
		result = outputs_judge(p, o, r, counters, err);
	bugs_sort(r); /* whichever worker told first */
	bugs_settle(r);
	first_crashes_settle(r);
	counters->has_opened |= r->counters.has_opened;
	r->counters = *counters;
	munmap(counters, sizeof *counters);
	return result;
}

/* Recovery opened a PM file; or asked for one, and there never was any. */
static bool has_used_pool(const struct crash_counters *c)
{
	return c->has_opened || (c->has_missed && !c->had_file);
}

int crash_explore(const struct plan *p, const struct crash_options *options, struct crash_result *r, struct error *err)
{
	struct crash_options o = *options;
	struct references refs = { .deadline_ns = options->limits.deadline_ns, .texts = &r->texts };
	struct rep_points points = { 0 };
	int result;

	*r = (struct crash_result){ 0 };
	result = prepare(p, &o, &refs, &points, r, err);
	if (refs.is_late)
		r->counters.is_late = 1;
	else if (result == 0 && !has_died(r))
		result = work(p, &o, &refs, &points, r, err);
	if (result == 0 && r->counters.begun > 0 && r->bugs.n == 0 && !has_used_pool(&r->counters))
		result = clean_runs_not_opened(o.recovery, err);
	findings_sort(r);
	r->why_incomplete = what_is_missing(p, &o, r, o.is_interrupted && o.is_interrupted(o.arg), result < 0 ? err->msg : NULL);
	r->is_broken_off = (trace_damage(p->trace) && !trace_is_cut_off(p->trace)) || (o.is_interrupted && o.is_interrupted(o.arg));
	r->is_complete = result == 0 && !r->why_incomplete;
	references_release(&refs);
	vec_release(&points.list);
	return result;
}
