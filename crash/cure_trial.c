/* Walks through a trace with a supposed change, and runs recovery lazily at the failure points
 * where the findings failed. A failure point is not tried again if recovery coped with the same set
 * of states before: most changes leave most failure points as they are. */
#include "crash/cure_trial.h"

#include <stdlib.h>
#include <string.h>

#include "crash/search/strategies.h"
#include "crash/search/undo.h"
#include "crash/states/states_of_stores.h"

/* failure points before a window whose states are compared with those in the window */
#define BEFORE_MAX 1024u
/* If a change does not cure, most states that lose the place fail: few runs are enough to see it.
 * So each failure point gets these first, and only then does one get more. */
#define FIRST_RUNS 8u

/* ---- which finding a failing state shows ---- */

static bool is_of(const struct cure_trial_finding *f, uint32_t site)
{
	const uint32_t class = site < f->nclasses ? f->classes[site] : 0;

	for (size_t i = 0; class && i < f->nplaces; i++)
		if (f->places[i] == class)
			return true;
	return false;
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

/* Runs recovery on a state. 1: it copes. 0: it fails. -1: it cannot be run. */
static int copes(struct cure_trial *t, const uint64_t *state, struct error *err)
{
	struct explorer *e = &t->explorer;
	struct verdict v;
	const int is_known = explorer_end_of(e, state, explorer_is_late(e), &v, err);

	return is_known <= 0 ? is_known : !v.why_unsound && v.kind == VERDICT_OK;
}

/* Runs recovery on a state twice, and then on what it left, with the logged ranges as they were
 * before the transaction. A log that was written too late has the new bytes, and recovery brings
 * them back, whatever the trial supposes of the range; a right log would have brought the old ones.
 * The results are those of copes(). */
static int copes_when_undone(struct cure_trial *t, const uint64_t *state, struct error *err)
{
	struct explorer *e = &t->explorer;
	const uint64_t seq = e->walk->seq;
	struct verdict v;
	int result;

	__atomic_fetch_add(&e->counters->diagnosis_runs, 3, __ATOMIC_RELAXED);
	explorer_load(e);
	runner_begin(e->runner, state, false);
	result = verdict_run(&v, e->runner, e->recovery, &e->allowed, err);
	if (result == 0)
		result = verdict_run(&v, e->runner, e->recovery, &e->allowed, err);
	if (result == 0 && v.kind == VERDICT_OK)
		return 0; /* whatever failed, a second start of recovery copes with it */
	for (size_t i = 0; result == 0 && i < t->logged->list.n; i++) {
		const struct logged_range *r = &t->logged->list.at[i];
		uint8_t bytes[PMT_STORE_MAX_BYTES];

		if (!logged_range_is_open(r, seq))
			continue;
		image_read(&e->walk->image, r->addr, bytes, r->len_bytes);
		runner_write(e->runner, r->addr, bytes, r->len_bytes);
	}
	if (result == 0)
		result = verdict_run(&v, e->runner, e->recovery, &e->allowed, err);
	return result < 0 ? -1 : !v.why_unsound && v.kind == VERDICT_OK;
}

/* Runs recovery on a state, with the logged ranges as they are after the transaction; the rest of
 * the state is unchanged. The results are those of copes(). To be called when recovery failed with
 * the ranges as before the transaction, as the trial supposes them. */
static int copes_logged(struct cure_trial *t, const uint64_t *state, struct error *err)
{
	struct explorer *e = &t->explorer;
	const uint64_t seq = e->walk->seq;
	struct logged_undo undo = { 0 };
	struct verdict v;
	int result;

	if (!t->logged || !logged_is_open(t->logged, seq))
		return 0;
	logged_apply(t->logged, seq, &e->walk->image, &e->set, &undo);
	runner_load(e->runner, &e->walk->image, &e->set);
	result = explorer_try(e, state, &v, err) < 0 ? -1 : !v.why_unsound && v.kind == VERDICT_OK;
	logged_undo(t->logged, seq, &e->walk->image, &e->set, &undo);
	runner_load(e->runner, &e->walk->image, &e->set);
	return result == 0 && t->is_logged_late ? copes_when_undone(t, state, err) : result;
}

static int copes_either(struct cure_trial *t, const uint64_t *state, struct error *err)
{
	const int result = copes(t, state, err);

	return result == 0 ? copes_logged(t, state, err) : result;
}

/* Do the states fail because they lose the finding's place? Then recovery copes if the place's
 * stores return. What recovery did not read may prevent that, so this is tried with the newest
 * contents of the rest, then with the oldest. */
static int fails_by_loss(struct cure_trial *t, const uint64_t *left, const struct read_places *read,
			 const struct cure_trial_finding *f, struct error *err)
{
	struct explorer *e = &t->explorer;
	store_list returned = { 0 };
	int result = 0;

	for (int is_oldest = 0; is_oldest < 2 && result == 0; is_oldest++) {
		uint64_t *state = is_oldest ? explorer_oldest(e, left) : explorer_state(e, left);
		bool is_lost = false;

		for (size_t i = 0; i < read->lost.n; i++) {
			if (!is_of(f, read->lost.at[i].site))
				continue;
			undo_place(e, read->lost.at[i].site, state, &returned);
			is_lost = true;
		}
		if (is_lost)
			result = copes_either(t, state, err);
		free(state);
	}
	vec_release(&returned);
	return result;
}

/* A hash of the crash states at this failure point. */
static uint64_t states_key(const struct walk *w)
{
	struct state_set set = { 0 };
	uint64_t key;

	states_collect(&set, w->model, NULL);
	key = verdict_cache_key(&set, &w->image, NULL, 0);
	states_release(&set);
	return key;
}

static bool is_whole(const struct cure_trial_finding *f)
{
	return !f->is_found && !f->is_read && (!f->nplaces || f->is_any);
}

static bool has_whole(const struct cure_trial *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (is_whole(&t->list[i]))
			return true;
	return false;
}

/* Is this the first failure point of an interval that the change makes atomic? If nothing else is
 * pending, its states are those from before the interval. */
static bool begins_interval(const struct whatif *supposed, const struct walk *w, uint64_t last_seq)
{
	for (size_t i = 0; i < supposed->intervals.n; i++) {
		const struct whatif_interval *interval = &supposed->intervals.at[i];

		if (last_seq <= interval->first_seq && interval->first_seq < w->seq &&
		    w->seq <= interval->last_seq)
			return true;
	}
	return false;
}

static bool is_nothing_pending(const struct walk *w)
{
	struct state_set set = { 0 };
	bool is_nothing;

	states_collect(&set, w->model, NULL);
	is_nothing = set.lines.n == 0;
	states_release(&set);
	return is_nothing;
}

/* Remembers the states before a window. If the change leaves only these states of the window, and
 * recovery fails on them, it fails for another reason. */
static void note_before(struct cure_trial *t, const struct whatif *supposed, const struct walk *w,
			uint64_t last_seq)
{
	if (!has_whole(t) || t->nbefore == BEFORE_MAX)
		return;
	if (is_wanted(t, w->seq) &&
	    !(supposed && begins_interval(supposed, w, last_seq) && is_nothing_pending(w)))
		return;
	t->nbefore++;
	t->before_key = states_key(w);
}

static bool fails_alike(const struct cure_trial *t, const struct cure_trial_finding *f,
			const char *text)
{
	return f->outcome && strstr(f->outcome, text) &&
	       !(t->before_key && t->before_key == states_key(t->explorer.walk));
}

/* Do the states fail as the finding says, also if nothing is lost? States that were already there
 * before the window do not count. */
static int fails_whole(struct cure_trial *t, const struct cure_trial_finding *f, const char *text,
		       struct error *err)
{
	struct explorer *e = &t->explorer;
	uint64_t *all = states_all(&e->set), *newest = explorer_state(e, all);
	int result = 0;

	if (fails_alike(t, f, text)) {
		result = copes_either(t, newest, err);
		result = result < 0 ? -1 : !result;
	}
	free(all);
	free(newest);
	return result;
}

static int find_failing(struct cure_trial *t, const uint64_t *left, const char *text,
			struct error *err)
{
	struct read_places read;
	int result = 0;

	read_places_find(&t->explorer, left, &read);
	for (size_t i = 0; i < t->n && result >= 0; i++) {
		struct cure_trial_finding *f = &t->list[i];

		if (f->is_found || f->is_read || !is_within(f, t->explorer.walk->seq))
			continue;
		if (f->is_any)
			result = fails_alike(t, f, text);
		else if (f->nplaces)
			result = fails_by_loss(t, left, &read, f, err);
		else
			result = fails_whole(t, f, text, err);
		f->is_found = result > 0;
	}
	read_places_release(&read);
	return result < 0 ? -1 : 0;
}

static int on_failure(struct explorer *e, const uint64_t *left, const struct verdict *v, void *arg,
		      struct error *err)
{
	char *text = verdict_text(v); /* copied now, because the next run overwrites it */
	uint64_t *newest = explorer_state(e, left);
	struct cure_trial *t = arg;
	const int is_logged = copes_logged(t, newest, err);
	int result = is_logged < 0 ? -1 : 0;

	if (is_logged == 0)
		result = find_failing(t, left, text, err);
	t->is_failed |= is_logged == 0;
	free(newest);
	free(text);
	if (!is_wanted(t, e->walk->seq))
		e->counters->is_stopped = 1;
	return result;
}

/* ---- states that are tried first ---- */

static bool wants_reads(const struct cure_trial *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].is_read)
			return true;
	return false;
}

struct loss {
	const struct cure_trial *trial;
	const struct cure_trial_finding *only; /* NULL: any of the findings */
	bool is_lost;
};

static bool is_sought(const struct cure_trial *t, const struct cure_trial_finding *f)
{
	return !f->is_found && !f->is_read && is_within(f, t->explorer.walk->seq);
}

static void note_loss(const struct model_lost *s, void *arg)
{
	struct loss *l = arg;

	for (size_t i = 0; i < l->trial->n && !l->is_lost; i++) {
		const struct cure_trial_finding *f = &l->trial->list[i];

		l->is_lost = (!l->only || l->only == f) && is_sought(l->trial, f) &&
			     is_of(f, site_id(s->site));
	}
}

static bool is_losing(struct loss *l, const struct state_line *line, uint32_t content)
{
	const struct explorer *e = &l->trial->explorer;

	l->is_lost = false;
	model_each_lost(e->walk->model, line->addr, state_content(&e->set, line, content),
			note_loss, l);
	return l->is_lost;
}

/* Makes each line lose a store of the sought places if it can, and as little else as possible.
 * False if no line can. */
static bool lose_sought(struct loss *l, uint64_t *state)
{
	const struct explorer *e = &l->trial->explorer;
	bool is_lost = false;

	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *line = &e->set.lines.at[i];
		uint32_t content = line->ncontents - 1;

		if (content == 0 || !is_losing(l, line, 0))
			continue;
		while (content > 0 && !is_losing(l, line, content - 1))
			content--;
		states_only(line, state, content - 1);
		is_lost = true;
	}
	return is_lost;
}

/* Runs recovery on a state, and notes which findings it shows if it fails. 1: it failed. */
static int probe(struct cure_trial *t, const uint64_t *state, struct error *err)
{
	struct explorer *e = &t->explorer;
	struct verdict v;
	int result = explorer_end_of(e, state, explorer_is_late(e), &v, err);
	char *text;

	if (result <= 0 || v.why_unsound || v.kind == VERDICT_OK)
		return result < 0 ? -1 : 0;
	text = verdict_text(&v);
	result = copes_logged(t, state, err);
	if (result == 0)
		result = find_failing(t, state, text, err) < 0 ? -1 : 1;
	else if (result > 0)
		result = 0;
	free(text);
	t->is_failed |= result > 0;
	return result;
}

/* Tries the loss of each finding's places alone: if several losses at once make recovery fail, none
 * of them alone is known to be the cause. */
static int probe_each(struct cure_trial *t, const uint64_t *newest, struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < t->n && result >= 0; i++) {
		struct loss only = { .trial = t, .only = &t->list[i] };
		uint64_t *state = states_copy(&t->explorer.set, newest);

		if (is_sought(t, &t->list[i]) && lose_sought(&only, state))
			result = probe(t, state, err);
		free(state);
	}
	return result < 0 ? -1 : 0;
}

static bool is_whole_sought(const struct cure_trial *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (is_sought(t, &t->list[i]) && is_whole(&t->list[i]))
			return true;
	return false;
}

static bool is_possible(struct cure_trial *t)
{
	struct explorer *e = &t->explorer;
	uint64_t *all = states_all(&e->set), *state = explorer_state(e, all);
	struct loss any = { .trial = t };
	const bool is_lost = lose_sought(&any, state);

	free(all);
	free(state);
	return is_lost || is_whole_sought(t);
}

/* Tries the state that loses the sought places and nothing else, then the state that loses most. */
static int probe_point(struct cure_trial *t, struct error *err)
{
	struct explorer *e = &t->explorer;
	uint64_t *all = states_all(&e->set), *newest = explorer_state(e, all),
		 *oldest = explorer_oldest(e, all), *state = states_copy(&e->set, newest);
	struct loss any = { .trial = t };
	const bool is_lost = lose_sought(&any, state);
	int result = 0;

	runner_load(e->runner, &e->walk->image, &e->set);
	if (is_whole_sought(t))
		result = probe(t, newest, err);
	if (is_lost && result >= 0)
		result = probe(t, state, err);
	if (is_lost && result > 0)
		result = probe_each(t, newest, err);
	if (is_lost && result >= 0)
		result = probe(t, oldest, err);
	free(all);
	free(newest);
	free(oldest);
	free(state);
	return result < 0 ? -1 : 0;
}

/* Ends a failure point at once if no sought place can be lost there: most changes make it
 * durable. */
static void on_point(struct explorer *e, bool is_again, void *arg)
{
	struct cure_trial *t = arg;

	if (is_again || t->is_begun)
		return;
	t->is_begun = true;
	t->is_possible = is_possible(t);
	if (!wants_reads(t) &&
	    (!t->is_possible || (!t->is_second && cure_trial_nruns(t) >= t->enough)))
		e->counters->is_stopped = 1;
}

/* ---- reads ---- */

struct unsafe_read {
	const struct cure_trial_finding *finding;
	bool is_found;
};

static void note_read(const struct model_store *s, void *arg)
{
	struct unsafe_read *r = arg;

	r->is_found |= is_of(r->finding, site_id(s->site));
}

/* Notes the findings whose place recovery reads although it may be lost. */
static void note_reads(struct cure_trial *t)
{
	const struct explorer *e = &t->explorer;
	const struct run_decision *d;
	const size_t n = runner_decisions(e->runner, &d);

	for (size_t i = 0; i < t->n; i++) {
		struct cure_trial_finding *f = &t->list[i];
		struct unsafe_read found = { f, false };

		if (!f->is_read || f->is_found || !is_within(f, e->walk->seq))
			continue;
		for (size_t k = 0; k < n; k++)
			for (uint32_t bit = 0; bit < 64; bit++)
				if (d[k].mask >> bit & 1)
					model_each(e->walk->model,
						   e->set.lines.at[d[k].line].addr + d[k].at + bit,
						   1, note_read, &found);
		f->is_found = found.is_found;
	}
}

/* Does each finding that is still searched for show here only if recovery fails with nothing
 * lost? */
static bool is_about_newest(const struct cure_trial *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct cure_trial_finding *f = &t->list[i];
		struct loss only = { .trial = t, .only = f };
		uint64_t *state;
		bool is_lost;

		if (f->is_found || !is_within(f, t->explorer.walk->seq))
			continue;
		if (f->is_read || f->is_any)
			return false;
		if (!f->nplaces)
			continue;
		state = states_newest(&t->explorer.set);
		is_lost = lose_sought(&only, state);
		free(state);
		if (is_lost)
			return false;
	}
	return true;
}

static void tell_progress(const struct cure_trial *t)
{
	if (t->diagnosing)
		t->diagnosing(cure_trial_nruns(t), t->diagnosing_arg);
}

/* Ends a failure point after its first run, which loses nothing, if no other state matters. */
static void on_run(struct explorer *e, const uint64_t *before, const uint64_t *after,
		   const struct verdict *v, void *arg)
{
	struct cure_trial *t = arg;

	(void)before;
	(void)after;
	note_reads(t);
	tell_progress(t);
	if (e->nruns != 1 || v->kind != VERDICT_OK || !is_about_newest(t))
		return;
	t->is_settled = true;
	e->counters->is_stopped = 1;
}

/* ---- the walk ---- */

static int allow(struct cure_trial *t, uint64_t seq, struct error *err)
{
	struct allowed *out = &t->explorer.allowed;

	if (!t->allowed)
		return references_allow_at(&t->refs, t->plan, t->runner, &t->recovery, seq, out,
					   err);
	out->hashes.n = 0;
	for (size_t i = 0; i < t->allowed->hashes.n; i++)
		*vec_add(&out->hashes) = t->allowed->hashes.at[i];
	return 0;
}

/* Remembers a failure point of which states are left that nobody tried. */
static void note_cut(struct cure_trial *t, uint64_t seq)
{
	*vec_add(&t->cut) = seq;
}

/* Did the failure point get fewer runs than the exploration would have given it? */
static bool is_cut_early(const struct cure_trial *t)
{
	return t->explorer.is_cut && t->is_possible && !t->is_settled && !t->is_second &&
	       t->explorer.limits.sample != t->sample;
}

/* Tries one failure point. 1: go on. 0: the budget is used up. */
static int try_point(struct cure_trial *t, struct walk *w, struct error *err)
{
	struct state_set set = { 0 };
	uint64_t key;

	if (allow(t, w->seq, err) < 0)
		return -1;
	states_collect(&set, w->model, NULL);
	key = verdict_cache_key(&set, &w->image, &t->explorer.allowed,
				recovery_operation(&t->recovery, t->plan, w->seq));
	states_release(&set);
	if (!wants_reads(t) && verdict_cache_get(&t->passed, key) > 0)
		return 1;
	t->explorer.walk = w;
	t->is_failed = t->is_begun = t->is_settled = false;
	t->counters.is_stopped = 0;
	if (explorer_point(&t->explorer, err) < 0)
		return -1;
	/* probing would only repeat states of a complete exploration */
	if (!t->is_second && is_wanted(t, w->seq) && t->is_possible && !t->is_settled &&
	    (t->counters.is_stopped || t->explorer.is_cut) && probe_point(t, err) < 0)
		return -1;
	if (!is_wanted(t, w->seq))
		return 1;
	if (t->counters.is_stopped && !t->is_settled) {
		if (t->is_possible)
			note_cut(t, w->seq);
		return t->is_begun && !explorer_is_late(&t->explorer);
	}
	if (is_cut_early(t))
		note_cut(t, w->seq);
	else if (!t->is_failed)
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

/* One walk. seqs: the failure points to try, in order; NULL: all that are wanted. */
static int walk_once(struct cure_trial *t, const struct whatif *supposed, const uint64_t *seqs,
		     size_t nseqs, uint64_t end_runs, struct error *err)
{
	uint64_t seq = 0; /* the event of the last failure point */
	size_t at = 0;
	int result = 1;
	struct walk w;

	walk_init(&w, t->plan, t->stops);
	walk_suppose(&w, supposed);
	t->before_key = t->nbefore = 0;
	while (result > 0 && !is_decided(t) && walk_next(&w) && w.seq <= last_seq(t)) {
		note_before(t, supposed, &w, seq);
		seq = w.seq;
		if (!is_wanted(t, w.seq))
			continue;
		if (seqs) {
			while (at < nseqs && seqs[at] < w.seq)
				at++;
			if (at == nseqs)
				break;
			if (seqs[at] != w.seq)
				continue;
		}
		if (cure_trial_nruns(t) >= end_runs) {
			result = 0;
			break;
		}
		tell_progress(t);
		t->explorer.limits.max_runs = t->counters.runs + end_runs - cure_trial_nruns(t);
		result = try_point(t, &w, err);
	}
	while (result == 0 && at < nseqs)
		note_cut(t, seqs[at++]);
	walk_release(&w);
	return result;
}

/* Goes on where the first walk ended early, as far as the runs suffice. */
static int walk_again(struct cure_trial *t, const struct whatif *supposed, uint64_t end_runs,
		      struct error *err)
{
	const size_t n = t->cut.n;
	uint64_t *seqs = xcalloc(n, sizeof *seqs);
	int result;

	memcpy(seqs, t->cut.at, n * sizeof *seqs);
	t->cut.n = 0;
	t->is_second = true;
	t->explorer.limits.sample = t->sample;
	result = walk_once(t, supposed, seqs, n, end_runs, err);
	t->is_second = false;
	free(seqs);
	return result;
}

static void limit_first(struct cure_trial *t)
{
	t->explorer.limits.sample = t->sample && t->sample < FIRST_RUNS ? t->sample : FIRST_RUNS;
}

int cure_trial_run(struct cure_trial *t, const struct whatif *supposed, const struct logged *logged,
		   struct cure_trial_finding *list, size_t n, uint64_t max_runs, struct error *err)
{
	const uint64_t nbefore = cure_trial_nruns(t), end_runs = nbefore + max_runs;
	int result;

	t->list = list;
	t->n = n;
	t->logged = logged;
	t->enough = nbefore + max_runs / 2;
	t->cut.n = 0;
	limit_first(t);
	result = walk_once(t, supposed, NULL, 0, end_runs, err);
	if (result > 0 && t->cut.n > 0 && !is_decided(t))
		result = walk_again(t, supposed, end_runs, err);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < t->cut.n; k++)
			list[i].is_cut |= is_within(&list[i], t->cut.at[k]);
	return result;
}

int cure_trial_init(struct cure_trial *t, const struct plan *p, const struct crash_options *o,
		    struct error *err)
{
	*t = (struct cure_trial){ .plan = p,
				  .recovery = *o->recovery,
				  .stops = o->stops,
				  .allowed = o->allowed,
				  .diagnosing = o->diagnosing,
				  .diagnosing_arg = o->arg };
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
					 .on_point = on_point,
					 .arg = t };
	t->sample = o->limits.sample;
	return 0;
}

void cure_trial_release(struct cure_trial *t)
{
	if (t->runner)
		runner_free(t->runner);
	references_release(&t->refs);
	explorer_release(&t->explorer);
	verdict_cache_release(&t->passed);
	vec_release(&t->cut);
	*t = (struct cure_trial){ 0 };
}
