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
#include "crash/missing.h"
#include "crash/outputs_judge.h"
#include "crash/part.h"
#include "crash/workers.h"
#include "serve/processes.h"

#define LOT_FIRST 32u /* failure points of a job, to begin with */
#define LOT_NS 5000000000u
#define LOT_GROWTH 16u /* at most, from one lot to the next */
#define LOT_WALKS 20u /* workers walk to each lot anew, which must not be most of what they do */
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

static int prepare(const struct plan *p, struct crash_options *o, struct references *refs, struct rep_points *points, struct share *share,
		   struct crash_result *r, struct error *err)
{
	struct runner *runner = runner_new(&o->runner, p->mappings.at, p->mappings.n, err);
	static const uint64_t none; /* for a part without failure points; NULL means all */
	const bool is_part = o->shard.of > 0;
	crash_events crashes = { 0 };
	uint64_t used_bytes;
	int result;

	if (!runner)
		return -1;
	result = clean_runs_try(p, o, runner, r, points, share, is_part && o->recovery->dump ? &crashes : NULL, err);
	if (!o->strategy->is_representative)
		r->nshare = share->n;
	if (o->runner.timeout_ms)
		r->timeout_ms = o->runner.timeout_ms;
	o->runner.timeout_ms = r->timeout_ms;
	o->limits.needs_pool = r->needs_pool;
	if (o->recovery->dump && !o->allowed)
		r->why_no_dump = plan_why_no_operations(p);
	if (result == 0 && !missing_has_died(r) && wants_references(o, r) && !o->strategy->is_representative)
		result = references_take(refs, p, runner, o->recovery, is_part ? (crashes.at ? crashes.at : &none) : NULL, crashes.n, err);
	vec_release(&crashes);
	if (result == 0)
		keep_objects(r, runner, o->recovery);
	r->counters.has_opened = runner_has_opened(runner);
	r->has_roi = runner_has_roi(runner);
	o->runner.has_roi |= r->has_roi; /* each worker's first run is judged like all others */
	used_bytes = runner_room_bytes(runner);
	runner_free(runner);
	if (result == 0) {
		fit_room(o, r, used_bytes);
		fit_processes(o, r);
	}
	return result;
}

/* ---- all of it ---- */

static int compare_events(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* What a dump may print after the crashes of this wave: most operations of a long run are never asked about. */
static int take_references(const struct plan *p, const struct crash_options *o, struct references *refs, const struct representatives *reps,
			   const struct share *share, struct error *err)
{
	struct runner *runner = runner_new(&o->runner, p->mappings.at, p->mappings.n, err);
	uint64_t *crashes = xcalloc(share->n, sizeof *crashes);
	int result = -1;

	for (size_t i = 0; i < share->n; i++)
		crashes[i] = reps->points.list.at[reps->stops.at[share_at(share, i) - 1].point - 1].seq;
	qsort(crashes, share->n, sizeof *crashes, compare_events);
	if (runner)
		result = references_take(refs, p, runner, o->recovery, crashes, share->n, err);
	runner_free(runner);
	free(crashes);
	return result;
}

/* The same, after a crash at one failure point. */
static int take_references_at(const struct plan *p, const struct crash_options *o, struct references *refs, uint64_t point, struct error *err)
{
	struct runner *runner = runner_new(&o->runner, p->mappings.at, p->mappings.n, err);
	int result = -1;
	struct walk w;

	walk_init(&w, p, o->stops);
	while (w.point < point && walk_next(&w))
		;
	if (runner)
		result = references_take(refs, p, runner, o->recovery, &w.seq, 1, err);
	walk_release(&w);
	runner_free(runner);
	return result;
}

/* What there is to do, and what all who do it share. */
struct work {
	const struct plan *plan;
	const struct crash_options *options;
	struct references *refs;
	struct race_table *table; /* NULL: no races */
	struct crash_counters *counters;
};

/* How much of a share is next: all of it, or as much as takes some seconds if it is kept then. Conclusions about races depend on all that came before. */
static uint64_t lot_size(const struct work *w, const struct lot *last, uint64_t took_ns, uint64_t walk_ns)
{
	const uint64_t left = last->share->n - last->first, aim_ns = LOT_WALKS * walk_ns > LOT_NS ? LOT_WALKS * walk_ns : LOT_NS;
	const uint64_t growth = took_ns ? aim_ns / took_ns : 1;
	uint64_t n = last->n ? last->n : LOT_FIRST * w->options->jobs;

	if (!w->options->keep || w->table)
		return left;
	if (last->n)
		n = growth ? n * (growth < LOT_GROWTH ? growth : LOT_GROWTH) : (n + 1) / 2;
	return n < left ? n : left;
}

/* So many of the share are done, and nothing else is begun: a moment to go on from. */
static void keep(const struct work *w, uint64_t ndone, struct crash_result *r)
{
	w->counters->has_opened |= r->counters.has_opened;
	r->counters = *w->counters;
	r->ndone = ndone;
	r->race_entries.n = 0;
	if (w->table)
		race_table_list(w->table, &r->race_entries);
	if (w->options->keep)
		w->options->keep(r, w->options->keep_arg);
}

static int work_on_share(const struct work *w, const struct share *share, uint64_t ndone, struct crash_result *r, struct error *err)
{
	struct lot lot = { .share = share, .first = ndone };
	uint64_t start_ns, took_ns = 0;

	keep(w, ndone, r);
	while (lot.first < share->n && !w->counters->is_stopped) {
		lot.n = lot_size(w, &lot, took_ns, r->walk_ns);
		start_ns = clock_ns();
		if (workers_run(w->plan, w->options, w->refs, &lot, w->table, r, w->counters, err) < 0)
			return -1;
		took_ns = clock_ns() - start_ns;
		lot.first += lot.n;
		if (!w->counters->is_stopped)
			keep(w, lot.first, r);
	}
	return 0;
}

/* What other processes did of the first wave. Numbers that there are not are of a part that somebody changed. */
static void take_up_wave(struct crash_result *r)
{
	struct representatives *reps = r->representatives;

	for (size_t i = 0; i < r->stops_begun.n; i++)
		if (r->stops_begun.at[i] < reps->stops.n)
			representatives_begun(reps, r->stops_begun.at[i]);
	for (size_t i = 0; i < r->stops_done.n; i++)
		if (r->stops_done.at[i] < reps->stops.n)
			representatives_done(reps, r->stops_done.at[i]);
	for (size_t i = 0; i < r->variants_failed.n; i++)
		if (r->variants_failed.at[i] < reps->variants.n)
			representatives_failed(reps, (uint32_t)r->variants_failed.at[i]);
}

static void deal_stops(const struct representatives *reps, struct shard shard, struct share *own)
{
	struct dealer d;

	dealer_init(&d, shard);
	for (size_t i = 0; i < reps->stops.n; i++)
		dealer_add(&d, reps->stops.at[i].n + 1, own);
	dealer_release(&d);
}

static int work_on_wave(const struct work *w, struct crash_result *r, struct error *err)
{
	const struct crash_options *o = w->options;
	const bool is_first = r->representatives->nwaves == 1;
	struct share share = { 0 };
	int result = 0;

	deal_stops(r->representatives, is_first ? o->shard : (struct shard){ 0 }, &share);
	if (is_first) {
		take_up_wave(r);
		r->nshare = share.n;
	}
	if (is_first && o->sum) {
		share_release(&share);
		return 0;
	}
	if (wants_references(o, r))
		result = take_references(w->plan, o, w->refs, r->representatives, &share, err);
	if (w->refs->is_late)
		w->counters->is_stopped = w->counters->is_late = 1;
	else if (result == 0)
		result = work_on_share(w, &share, is_first ? r->ndone : 0, r, err);
	share_release(&share);
	return result;
}

/* What is in later waves depends on what all shards found in the first. */
static int work_in_waves(const struct work *w, struct rep_points *points, struct crash_result *r, struct error *err)
{
	int result = 0;

	r->representatives = representatives_new(w->plan, points, &w->options->types);
	while (result == 0 && !w->counters->is_stopped && (!w->options->shard.of || r->representatives->nwaves == 0) && representatives_next(r->representatives))
		result = work_on_wave(w, r, err);
	return result;
}

static struct crash_counters *counters_new(const struct crash_counters *begin)
{
	struct crash_counters *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (c == MAP_FAILED)
		alloc_die();
	*c = *begin;
	return c;
}

/* Concludes about races at one failure point, for what the table says now; what else is found there is known already. */
static int conclude_again(uint64_t point, void *arg, struct error *err)
{
	const struct work *w = arg;
	struct crash_options o = *w->options;
	struct crash_result ignored = { .nshare = 1 };
	struct crash_counters *counters = counters_new(&ignored.counters);
	struct references refs = { 0 };
	struct share share = { .n = 1 };
	int result = 0;

	*vec_add(&share.spans) = (struct share_span){ .first = point, .n = 1 };
	o.jobs = 1;
	o.progress = NULL;
	o.races.has_turns = false;
	if (wants_references(&o, &ignored))
		result = take_references_at(w->plan, &o, &refs, point, err);
	if (result == 0)
		result = workers_run(w->plan, &o, &refs, &(struct lot){ &share, 0, 1 }, w->table, &ignored, counters, err);
	references_release(&refs);
	share_release(&share);
	crash_result_release(&ignored);
	munmap(counters, sizeof *counters);
	return result;
}

static int work(const struct plan *p, const struct crash_options *o, struct references *refs, struct rep_points *points, const struct share *share,
		struct crash_result *r, struct error *err)
{
	struct work w = { p, o, refs, o->races.is_wanted ? race_table_new(o->jobs) : NULL, counters_new(&r->counters) };
	int result = 0;

	if (w.table && o->sum && !o->shard.of)
		result = race_turns_replay(&r->race_turns, w.table, conclude_again, &w, err);
	else
		for (size_t i = 0; w.table && i < r->race_entries.n; i++)
			race_table_put(w.table, &r->race_entries.at[i]);
	if (result == 0 && o->strategy->is_representative)
		result = work_in_waves(&w, points, r, err);
	else if (result == 0 && !o->sum)
		result = work_on_share(&w, share, r->ndone, r, err);
	if (w.table)
		races_settle(p, w.table, w.counters->is_stopped, r);
	if (result == 0 && o->watches_output && !o->shard.of && !w.counters->is_stopped && w.counters->points == r->npoints)
		result = outputs_judge(p, o, r, w.counters, err);
	bugs_sort(r); /* whichever worker told first */
	bugs_settle(r);
	first_crashes_settle(r);
	w.counters->has_opened |= r->counters.has_opened;
	r->counters = *w.counters;
	race_table_free(w.table);
	munmap(w.counters, sizeof *w.counters);
	return result;
}

/* Recovery opened a PM file; or asked for one, and there never was any. */
static bool has_used_pool(const struct crash_counters *c)
{
	return c->has_opened || (c->has_missed && !c->had_file);
}

/* What other processes did is here; what is left depends on all of it. */
static void take_sum(const struct plan *p, struct crash_options *o, struct rep_points *points, struct crash_result *r)
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

/* An earlier run of this shard. */
static int take_done(struct crash_result *r, struct wire *m, struct error *err)
{
	struct crash_result part = { 0 };

	part_pass(m, &part);
	/* of the representatives, the share is known only when they are chosen */
	if (m->is_bad || (r->nshare && part.nshare != r->nshare) || part.npoints != r->npoints) {
		crash_result_release(&part);
		return error_set(err, "what was kept of an earlier run of this shard is damaged; remove it and begin again");
	}
	part.nshare = 0;
	part_add(r, &part);
	return 0;
}

int crash_explore(const struct plan *p, const struct crash_options *options, struct crash_result *r, struct error *err)
{
	struct crash_options o = *options;
	struct references refs = { .deadline_ns = options->limits.deadline_ns, .texts = &r->texts };
	struct rep_points points = { 0 };
	struct share share = { 0 };
	int result = 0;

	*r = (struct crash_result){ 0 };
	o.races.has_turns = o.shard.of > 0;
	if (o.sum)
		take_sum(p, &o, &points, r);
	else
		result = prepare(p, &o, &refs, &points, &share, r, err);
	if (result == 0 && o.done)
		result = take_done(r, o.done, err);
	if (refs.is_late)
		r->counters.is_late = 1;
	else if (result == 0 && !missing_has_died(r))
		result = work(p, &o, &refs, &points, &share, r, err);
	else if (result == 0 && o.keep)
		o.keep(r, o.keep_arg);
	if (result == 0 && r->counters.begun > 0 && r->bugs.n == 0 && !has_used_pool(&r->counters))
		result = clean_runs_not_opened(o.recovery, err);
	findings_sort(r);
	r->why_incomplete = missing_text(p, &o, r, o.is_interrupted && o.is_interrupted(o.arg), result < 0 ? err->msg : NULL);
	r->is_broken_off = (trace_damage(p->trace) && !trace_is_cut_off(p->trace)) || (o.is_interrupted && o.is_interrupted(o.arg));
	r->is_complete = result == 0 && !r->why_incomplete;
	references_release(&refs);
	share_release(&share);
	vec_release(&points.list);
	return result;
}
