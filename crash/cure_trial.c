/* Walks through a trace as it would be with a change, and runs recovery lazily at the failure points at which findings are looked for. A failure point whose states recovery handles is
 * remembered by what the states are: most changes leave most failure points as they are. */
#include "crash/cure_trial.h"

#include <stdlib.h>
#include <string.h>

#include "crash/search/strategies.h"

#define RUNS_OF_POINT 8u /* at most: what a cure does not mend fails in most of the states that lose it */

/* ---- what a failing state says ---- */

struct loss {
	const struct cure_trial_finding *finding;
	bool is_lost;
};

static bool is_of(const struct cure_trial_finding *f, const struct trace_site *site)
{
	const uint32_t class = site && site->id < f->nclasses ? f->classes[site->id] : 0;

	for (size_t i = 0; class && i < f->nplaces; i++)
		if (f->places[i] == class)
			return true;
	return false;
}

static void note_loss(const struct model_lost *s, void *arg)
{
	struct loss *l = arg;

	l->is_lost |= is_of(l->finding, s->site);
}

/* What recovery did not read counts as not lost: it has its newest content. */
static bool loses_place(const struct explorer *e, const uint64_t *state, const struct cure_trial_finding *f)
{
	struct loss loss = { f, false };

	for (size_t i = 0; i < e->set.lines.n && !loss.is_lost; i++) {
		const struct state_line *l = &e->set.lines.at[i];
		const uint32_t c = states_newest_left(l, state);

		if (c < l->ncontents - 1)
			model_each_lost(e->walk->model, l->addr, state_content(&e->set, l, c), note_loss, &loss);
	}
	return loss.is_lost;
}

static bool is_within(const struct cure_trial_finding *f, uint64_t seq)
{
	for (size_t i = 0; i < f->nwindows; i++)
		if (f->windows[i].first_seq <= seq && seq <= f->windows[i].last_seq)
			return true;
	return false;
}

static bool is_wanted(const struct cure_trial *t, uint64_t seq)
{
	for (size_t i = 0; i < t->n; i++)
		if (!t->list[i].is_found && is_within(&t->list[i], seq))
			return true;
	return false;
}

/* With the logged ranges as after the transaction, and everything else as it is: as before it, which is what is supposed, recovery fails. -1: it cannot be run. */
static int passes_logged(struct cure_trial *t, const uint64_t *state, struct error *err)
{
	struct explorer *e = &t->explorer;
	const uint64_t seq = e->walk->seq;
	struct logged_undo undo = { 0 };
	struct verdict v;
	int passes;

	if (!t->logged || !logged_is_open(t->logged, seq))
		return 0;
	logged_apply(t->logged, seq, &e->walk->image, &e->set, &undo);
	runner_load(e->runner, &e->walk->image, &e->set);
	passes = explorer_try(e, state, &v, err) < 0 ? -1 : v.kind == VERDICT_OK;
	logged_undo(t->logged, seq, &e->walk->image, &e->set, &undo);
	runner_load(e->runner, &e->walk->image, &e->set);
	return passes;
}

static int on_failure(struct explorer *e, const uint64_t *state, const struct verdict *v, void *arg, struct error *err)
{
	char *text = verdict_text(v); /* before another run */
	struct cure_trial *t = arg;
	const int passes = passes_logged(t, state, err);

	for (size_t i = 0; i < t->n && passes == 0; i++) {
		struct cure_trial_finding *f = &t->list[i];

		if (!f->is_found && !f->is_read && is_within(f, e->walk->seq))
			f->is_found = (f->outcome && strstr(f->outcome, text)) || loses_place(e, state, f);
	}
	free(text);
	t->is_failed |= passes == 0;
	if (passes < 0)
		return -1;
	if (!is_wanted(t, e->walk->seq))
		e->counters->is_stopped = 1;
	return 0;
}

/* ---- reads ---- */

static void note_read(const struct model_store *s, void *arg)
{
	struct loss *l = arg;

	l->is_lost |= is_of(l->finding, s->site);
}

/* What recovery reads of the place, and may be lost, is still read unsafely. */
static void on_run(struct explorer *e, const uint64_t *before, const uint64_t *after, const struct verdict *v, void *arg)
{
	const struct run_decision *d;
	const size_t n = runner_decisions(e->runner, &d);
	struct cure_trial *t = arg;

	(void)before;
	(void)after;
	(void)v;
	for (size_t i = 0; i < t->n; i++) {
		struct cure_trial_finding *f = &t->list[i];
		struct loss loss = { f, false };

		if (!f->is_read || f->is_found || !is_within(f, e->walk->seq))
			continue;
		for (size_t k = 0; k < n; k++)
			for (uint32_t bit = 0; bit < 64; bit++)
				if (d[k].mask >> bit & 1)
					model_each(e->walk->model, e->set.lines.at[d[k].line].addr + d[k].at + bit, 1, note_read, &loss);
		f->is_found = loss.is_lost;
	}
}

/* ---- the walk ---- */

static int allow(struct cure_trial *t, uint64_t seq, struct error *err)
{
	struct allowed *out = &t->explorer.allowed;

	if (!t->allowed)
		return references_allow_at(&t->refs, t->plan, t->runner, &t->recovery, seq, out, err);
	out->hashes.n = 0;
	for (size_t i = 0; i < t->allowed->hashes.n; i++)
		*vec_add(&out->hashes) = t->allowed->hashes.at[i];
	return 0;
}

static bool wants_reads(const struct cure_trial *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].is_read)
			return true;
	return false;
}

/* 1: go on. 0: the budget is over. */
static int try_point(struct cure_trial *t, struct walk *w, struct error *err)
{
	struct state_set set = { 0 };
	uint64_t key;

	if (allow(t, w->seq, err) < 0)
		return -1;
	states_collect(&set, w->model, NULL);
	key = verdict_cache_key(&set, &w->image, &t->explorer.allowed, recovery_operation(&t->recovery, t->plan, w->seq));
	states_release(&set);
	if (!wants_reads(t) && verdict_cache_get(&t->passed, key) > 0)
		return 1;
	t->explorer.walk = w;
	t->is_failed = false;
	t->counters.is_stopped = 0;
	if (explorer_point(&t->explorer, err) < 0)
		return -1;
	if (!is_wanted(t, w->seq))
		return 1;
	if (t->counters.is_stopped)
		return 0;
	if (!t->is_failed)
		verdict_cache_set(&t->passed, key, 1);
	return 1;
}

static bool is_decided(const struct cure_trial *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (!t->list[i].is_found)
			return false;
	return true;
}

static uint64_t last_seq(const struct cure_trial *t)
{
	uint64_t last = 0;

	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->list[i].nwindows; k++)
			if (t->list[i].windows[k].last_seq > last)
				last = t->list[i].windows[k].last_seq;
	return last;
}

uint64_t cure_trial_nruns(const struct cure_trial *t)
{
	return t->counters.runs + t->counters.diagnosis_runs;
}

int cure_trial_run(struct cure_trial *t, const struct whatif *supposed, const struct logged *logged, struct cure_trial_finding *list, size_t n, uint64_t max_runs,
	      struct error *err)
{
	const uint64_t nbefore = cure_trial_nruns(t);
	int result = 1;
	struct walk w;

	t->list = list;
	t->n = n;
	t->logged = logged;
	walk_init(&w, t->plan, t->stops);
	walk_suppose(&w, supposed);
	while (result > 0 && !is_decided(t) && walk_next(&w) && w.seq <= last_seq(t)) {
		const uint64_t spent = cure_trial_nruns(t) - nbefore;

		if (!is_wanted(t, w.seq))
			continue;
		if (spent >= max_runs) {
			result = 0;
			break;
		}
		t->explorer.limits.max_runs = t->counters.runs + max_runs - spent;
		result = try_point(t, &w, err);
	}
	walk_release(&w);
	return result;
}

int cure_trial_init(struct cure_trial *t, const struct plan *p, const struct crash_options *o, struct error *err)
{
	*t = (struct cure_trial){ .plan = p, .recovery = *o->recovery, .stops = o->stops, .allowed = o->allowed };
	t->runner = runner_new(&o->runner, p->mappings.at, p->mappings.n, err);
	if (!t->runner)
		return -1;
	t->refs.deadline_ns = o->limits.deadline_ns;
	t->explorer = (struct explorer){ .strategy = &strategy_lazy,
					 .runner = t->runner,
					 .recovery = &t->recovery,
					 .limits = o->limits,
					 .counters = &t->counters,
					 .on_failure = on_failure,
					 .on_run = on_run,
					 .arg = t };
	if (!t->explorer.limits.sample || t->explorer.limits.sample > RUNS_OF_POINT)
		t->explorer.limits.sample = RUNS_OF_POINT;
	return 0;
}

void cure_trial_release(struct cure_trial *t)
{
	if (t->runner)
		runner_free(t->runner);
	references_release(&t->refs);
	explorer_release(&t->explorer);
	verdict_cache_release(&t->passed);
	*t = (struct cure_trial){ 0 };
}
