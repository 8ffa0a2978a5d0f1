/* Proves that recovery fails until the program has initialised its pool: runs recovery with nothing
 * lost at each failure point, from the first one that has a pool to the first one where recovery
 * copes. A bug is explained by this if all of its states are among those that the program passed
 * through before: they lose nothing, or only the newest stores, and no failure point of them is
 * behind the end of initialisation. */
#include "crash/creation.h"

#include <stdlib.h>
#include <string.h>

#include "crash/search/verdict.h"
#include "crash/states/walk.h"

#define RUNS_MAX 512u

/* Is the bug about a state that the program itself passed through (its kind is atomicity or
 * recovery-failure), and does nothing else explain the bug yet? */
static bool is_candidate(const struct crash_bug *b)
{
	return (strcmp(b->kind, "atomicity") == 0 || strcmp(b->kind, "recovery-failure") == 0) &&
	       !b->is_clean && !b->found && !b->undecided_by && !b->acknowledged.seq;
}

bool creation_explains(const struct creation *c, const struct crash_bug *b)
{
	return c->end && is_candidate(b) && b->point >= c->first && b->last_point <= c->end &&
	       (b->point < c->end || (b->lost.n > 0 && b->lost.at[0].seq < c->end_seq));
}

static size_t count_explained(const struct creation *c, const struct crash_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->bugs.n; i++)
		n += creation_explains(c, &r->bugs.at[i]);
	return n;
}

enum end { COPES, FAILS, IS_UNKNOWN };

static enum end run_newest(const struct walk *w, const struct crash_options *o, struct runner *r)
{
	struct state_set set = { 0 };
	struct error ignored;
	struct verdict v;
	uint64_t *newest;
	bool is_run;

	states_collect_newest(&set, w->model);
	newest = states_newest(&set);
	runner_load(r, &w->image, &set);
	recovery_set_moment(o->recovery, r, w->plan, w->is_over ? UINT64_MAX : w->seq);
	runner_begin(r, newest, false);
	is_run = verdict_run(&v, r, o->recovery, NULL, &ignored) == 0 && !v.why_unsound &&
		 !verdict_is_slow(&v);
	free(newest);
	states_release(&set);
	return !is_run ? IS_UNKNOWN : v.kind == VERDICT_OK ? COPES : FAILS;
}

/* Walks from the first failure point with a pool to the first one where recovery copes. Notes both
 * in r->creation if that explains several bugs. */
static void walk_creation(struct walk *w, const struct crash_options *o, struct runner *runner,
			  struct crash_result *r)
{
	struct creation c = { 0 };
	enum end end = FAILS;

	for (uint64_t n = 0; end == FAILS && n < RUNS_MAX && walk_next(w);) {
		if (!walk_has_pool(w))
			continue;
		end = run_newest(w, o, runner);
		r->counters.diagnosis_runs++;
		c.first = n++ == 0 ? w->point : c.first;
		c.end = w->point;
		c.end_seq = w->is_over ? w->plan->nevents + 1 : w->seq;
	}
	if (end == COPES && c.end > c.first && count_explained(&c, r) > 1)
		r->creation = c;
}

static bool has_candidates(const struct crash_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->bugs.n; i++)
		n += is_candidate(&r->bugs.at[i]);
	return n > 1;
}

void creation_find(const struct plan *p, const struct crash_options *o, struct crash_result *r)
{
	struct error ignored;
	struct runner *runner;
	struct walk w;

	if (!has_candidates(r))
		return;
	runner = runner_new(&o->runner, p->mappings.at, p->mappings.n, &ignored);
	if (!runner)
		return;
	runner_set_deadline(runner, o->limits.deadline_ns);
	walk_init(&w, p, o->stops);
	walk_creation(&w, o, runner, r);
	walk_release(&w);
	runner_free(runner);
}
