/* Explores what is left after the clean runs: a share of the failure points in lots, or the waves
 * of failure points that representative testing chooses. Then it draws the conclusions that need
 * all results. */
#include "crash/work.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "crash/findings/findings.h"
#include "crash/outputs_judge.h"
#include "crash/workers/workers.h"
#include "util/order.h"

#define LOT_FIRST 32u /* failure points of the first lot of a worker */
#define LOT_NS 5000000000u
#define LOT_GROWTH 16u /* largest growth from one lot to the next */
/* workers walk to each lot from the beginning, which must not be most of their work */
#define LOT_WALKS 20u

bool work_wants_references(const struct crash_options *o, const struct crash_result *r)
{
	return o->recovery->dump && !o->allowed && !r->why_no_dump;
}

/* Finds out which dumps are allowed after the crashes of this wave. Only those operations are asked
 * about, because most operations of a long run are never needed. */
static int take_references(const struct plan *p, const struct crash_options *o,
			   struct references *refs, const struct representatives *reps,
			   const struct share *share, struct error *err)
{
	struct runner *runner = runner_new(&o->runner, p->mappings.at, p->mappings.n, err);
	uint64_t *crashes = xcalloc(share->n, sizeof *crashes);
	int result = -1;

	for (size_t i = 0; i < share->n; i++)
		crashes[i] =
			reps->points.list.at[reps->stops.at[share_at(share, i) - 1].point - 1].seq;
	qsort(crashes, share->n, sizeof *crashes, order_u64);
	if (runner)
		result = references_take(refs, p, runner, o->recovery, crashes, share->n, err);
	runner_free(runner);
	free(crashes);
	return result;
}

/* Finds out which dumps are allowed after a crash at one failure point, by running recovery and
 * dump on the states at the ends of operations (references.h). */
static int take_references_at(const struct plan *p, const struct crash_options *o,
			      struct references *refs, uint64_t point, struct error *err)
{
	struct runner *runner = runner_new(&o->runner, p->mappings.at, p->mappings.n, err);
	int result = -1;
	struct walk w;

	walk_init(&w, p, o->stops);
	if (runner)
		result = index_seek_point(o->index, &w, point, err);
	while (result == 0 && w.point < point && walk_next(&w))
		;
	if (result == 0)
		result = references_take(refs, p, runner, o->recovery, &w.seq, 1, err);
	walk_release(&w);
	runner_free(runner);
	return result;
}

/* The work, and what all workers share. */
struct work {
	const struct plan *plan;
	const struct crash_options *options;
	struct references *refs;
	struct race_table *table; /* NULL: races are not searched */
	struct crash_counters *counters;
};

/* Gives how many failure points the next lot (the failure points that are explored together) gets:
 * the whole share, or a few seconds' work if the result is saved after each lot. */
static uint64_t lot_size(const struct work *w, const struct lot *last, uint64_t took_ns,
			 uint64_t walk_ns)
{
	const uint64_t left = last->share->n - last->first,
		       aim_ns = LOT_WALKS * walk_ns > LOT_NS ? LOT_WALKS * walk_ns : LOT_NS;
	const uint64_t growth = took_ns ? aim_ns / took_ns : 1;
	uint64_t n = last->n ? last->n : LOT_FIRST * w->options->jobs;

	if (!w->options->keep)
		return left;
	if (last->n)
		n = growth ? n * (growth < LOT_GROWTH ? growth : LOT_GROWTH) : (n + 1) / 2;
	n = (n + w->options->window - 1) / w->options->window * w->options->window;
	return n < left ? n : left;
}

/* Saves the result: `ndone` failure points of the share are done, and no other one is begun. An
 * exploration can continue from here. */
static void keep(const struct work *w, uint64_t ndone, struct crash_result *r)
{
	w->counters->has_opened |= r->counters.has_opened;
	r->counters = *w->counters;
	r->ndone = ndone;
	if (w->options->keep)
		w->options->keep(r, w->options->keep_arg);
}

/* Begins a lot: tells it what the first rounds of earlier lots found about races, because in one
 * process the first round of all lots comes before the second round of any lot. Findings that the
 * lot repeats are merged later. */
static void begin_lot(const struct work *w, struct crash_result *r)
{
	if (w->table && w->options->races.has_turns)
		race_turns_suppose(&r->race_turns, 1, w->table);
}

static int work_on_share(const struct work *w, const struct share *share, uint64_t ndone,
			 struct crash_result *r, struct error *err)
{
	struct lot lot = { .share = share, .first = ndone };
	uint64_t start_ns, took_ns = 0;

	keep(w, ndone, r);
	while (lot.first < share->n && !w->counters->is_stopped) {
		lot.n = lot_size(w, &lot, took_ns, r->walk_ns);
		start_ns = clock_ns();
		begin_lot(w, r);
		if (workers_run(w->plan, w->options, w->refs, &lot, w->table, r, w->counters, err) <
		    0)
			return -1;
		took_ns = clock_ns() - start_ns;
		lot.first += lot.n;
		if (!w->counters->is_stopped)
			keep(w, lot.first, r);
	}
	return 0;
}

/* Marks what other processes did in the first wave: the stops that they began and finished, and the
 * variants that failed. Numbers out of range come from a damaged part and are ignored. */
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
	const uint64_t ndone = r->ndone;
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
	if (work_wants_references(o, r))
		result = take_references(w->plan, o, w->refs, r->representatives, &share, err);
	if (w->refs->is_late)
		w->counters->is_stopped = w->counters->is_late = 1;
	else if (result == 0)
		result = work_on_share(w, &share, is_first ? ndone : 0, r, err);
	/* shards divide only the first wave; a saved result says nothing about later ones */
	if (!is_first)
		r->ndone = ndone;
	share_release(&share);
	return result;
}

/* Explores wave by wave. Later waves depend on what all shards found in the first. */
static int work_in_waves(const struct work *w, struct rep_points *points, struct crash_result *r,
			 struct error *err)
{
	int result = 0;

	r->representatives = representatives_new(w->plan, points, &w->options->types);
	while (result == 0 && !w->counters->is_stopped &&
	       (!w->options->shard.of || r->representatives->nwaves == 0) &&
	       representatives_next(r->representatives))
		result = work_on_wave(w, r, err);
	return result;
}

static struct crash_counters *counters_new(const struct crash_counters *begin)
{
	struct crash_counters *c =
		mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (c == MAP_FAILED)
		alloc_die();
	*c = *begin;
	return c;
}

/* Draws the conclusions about races at one failure point again, with the present table. Other
 * findings of that point are known already. */
static int conclude_again(uint64_t point, void *arg, struct error *err)
{
	const struct work *w = arg;
	struct crash_options o = *w->options;
	struct crash_result ignored = { .nshare = 1 };
	struct crash_counters *counters = counters_new(&ignored.counters);
	struct references refs = { .index = o.index };
	struct share share = { .n = 1 };
	int result = 0;

	*vec_add(&share.spans) = (struct share_span){ .first = point, .n = 1 };
	o.jobs = 1;
	o.progress = NULL;
	o.found = NULL;
	o.races.has_turns = false;
	if (work_wants_references(&o, &ignored))
		result = take_references_at(w->plan, &o, &refs, point, err);
	if (result == 0)
		result = workers_run(w->plan, &o, &refs, &(struct lot){ &share, 0, 1 }, w->table,
				     &ignored, counters, err);
	references_release(&refs);
	share_release(&share);
	crash_result_release(&ignored);
	munmap(counters, sizeof *counters);
	return result;
}

int work_on_all(const struct plan *p, const struct crash_options *o, struct references *refs,
		struct rep_points *points, const struct share *share, struct crash_result *r,
		struct error *err)
{
	struct work w = { p, o, refs, o->races.is_wanted ? race_table_new(o->jobs) : NULL,
			  counters_new(&r->counters) };
	int result = 0;

	if (w.table && o->sum && !o->shard.of)
		result = race_turns_replay(&r->race_turns, w.table, conclude_again, &w, err);
	if (result == 0 && o->strategy->is_representative)
		result = work_in_waves(&w, points, r, err);
	else if (result == 0 && !o->sum)
		result = work_on_share(&w, share, r->ndone, r, err);
	if (w.table && o->races.has_turns)
		race_turns_suppose(&r->race_turns, UINT64_MAX, w.table);
	if (w.table)
		races_settle(p, w.table, w.counters->is_stopped, r);
	if (result == 0 && o->watches_output && !o->shard.of && !w.counters->is_stopped &&
	    w.counters->points == r->npoints)
		result = outputs_judge(p, o, r, w.counters, err);
	bugs_sort(r); /* so that the order does not depend on which worker was first */
	bugs_settle(r);
	first_crashes_settle(r);
	w.counters->has_opened |= r->counters.has_opened;
	r->counters = *w.counters;
	race_table_free(w.table);
	munmap(w.counters, sizeof *w.counters);
	return result;
}
