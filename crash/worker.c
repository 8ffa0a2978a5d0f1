/* Explores the failure points that this process claims, and tells its parent what it finds. Messages: 'B' a bug as soon as it is found, by its number, and again when it is seen at an earlier failure point; 'F' a state whose
 * recovery writes; 'C' how often each was seen; 'R' a race; 'T' what was concluded about races in one turn; 'O' an output of recovery with nothing lost, 'Q' another one; 'P' a stop that had its first runs, 'S' one that is done, 'V' a variant that failed (these three of representative testing); 'E' the end: sums; 'X' an error. */
#include "crash/worker.h"

#include <stdio.h>
#include <string.h>

#include "crash/findings.h"
#include "crash/search/state_text.h"
#include "crash/states/states_of_stores.h"
#include "crash/worker_internal.h"

/* ---- first crashes ---- */

/* It is told of once, and again if it is met at an earlier failure point: whoever comes first must not matter. */
static bool is_told(struct worker *w, uint64_t signature, uint64_t point)
{
	for (size_t i = 0; i < w->signatures.n; i++) {
		struct told_signature *t = &w->signatures.at[i];

		if (t->signature != signature)
			continue;
		if (t->point <= point)
			return true;
		t->point = point;
		return false;
	}
	*vec_add(&w->signatures) = (struct told_signature){ signature, point };
	return false;
}

static void tell_first_crash(struct worker *w, uint64_t signature, bool is_oldest, const uint64_t *state)
{
	struct explorer *e = &w->explorer;
	struct first_crash f = { .signature = signature, .is_oldest = is_oldest, .point = e->walk->point, .seq = e->walk->seq,
				 .operation = recovery_operation(e->recovery, e->walk->plan, e->walk->seq) };
	struct wire m = { 0 };

	f.state = state_text(&e->set, e->walk->point, state);
	for (size_t i = 0; i < e->allowed.hashes.n; i++)
		*vec_add(&f.allowed) = e->allowed.hashes.at[i];
	wire_number(&m, 'F');
	first_crash_pass(&m, &f);
	worker_tell(w, &m);
	free(f.state);
	vec_release(&f.allowed);
}

/* What recovery did not read has its oldest content: the second recovery may read it. NULL: it read everything that was undecided. */
static uint64_t *with_oldest(const struct explorer *e, const uint64_t *left)
{
	uint64_t *state = states_copy(&e->set, left);
	bool is_other = false;

	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];
		uint32_t oldest = 0;

		while (!bit_get(left + l->set, oldest))
			oldest++;
		is_other |= oldest != states_newest_left(l, left);
		states_only(l, state, oldest);
	}
	if (is_other)
		return state;
	free(state);
	return NULL;
}

/* ---- outputs ---- */

static bool loses_nothing(const struct explorer *e, const uint64_t *left)
{
	for (size_t i = 0; i < e->set.lines.n; i++)
		if (states_newest_left(&e->set.lines.at[i], left) != e->set.lines.at[i].ncontents - 1)
			return false;
	return true;
}

static void tell_shape(uint64_t shape, void *arg)
{
	wire_number(arg, shape);
}

static void count_shape(uint64_t shape, void *arg)
{
	(void)shape;
	++*(uint64_t *)arg;
}

static void tell_clean_output(struct worker *w, const struct verdict *v)
{
	struct wire m = { 0 };
	uint64_t n = 0;

	output_shapes(v->output, v->output_len, count_shape, &n);
	wire_number(&m, 'O');
	wire_number(&m, v->output_hash);
	wire_number(&m, n);
	output_shapes(v->output, v->output_len, tell_shape, &m);
	worker_tell(w, &m);
}

static void tell_doubt(struct worker *w, const struct explorer *e, const uint64_t *left, const struct verdict *v)
{
	char *text = state_text(&e->set, e->walk->point, left);
	struct wire m = { 0 };

	wire_number(&m, 'Q');
	wire_number(&m, v->output_hash);
	wire_number(&m, e->walk->point);
	wire_string(&m, text);
	worker_tell(w, &m);
	outputs_doubt(&w->outputs, v->output_hash, e->walk->point, text);
}

static void note_output(struct worker *w, const struct explorer *e, const uint64_t *left, const struct verdict *v)
{
	if (v->kind != VERDICT_OK || v->why_unsound)
		return;
	if (loses_nothing(e, left)) {
		if (outputs_add(&w->outputs, v->output_hash))
			tell_clean_output(w, v);
	} else if (outputs_wants(&w->outputs, v->output_hash, e->walk->point)) {
		tell_doubt(w, e, left, v);
	}
}

static void on_run(struct explorer *e, const uint64_t *before, const uint64_t *after, const struct verdict *v, void *arg)
{
	struct worker *w = arg;
	uint64_t signature, *oldest;

	if (w->races)
		races_note_run(w->races, e, before, after, v);
	if (w->watches_output && !e->is_diagnosis)
		note_output(w, e, after, v);
	if (!w->wants_first_crashes || e->is_diagnosis)
		return;
	signature = v->kind != VERDICT_OK ? 0 : e->recovery->then ? v->changes : runner_changes(e->runner);
	if (signature == 0 || is_told(w, signature, e->walk->point))
		return;
	tell_first_crash(w, signature, false, after);
	oldest = with_oldest(e, after);
	if (oldest)
		tell_first_crash(w, signature, true, oldest);
	free(oldest);
}

/* ---- races ---- */

/* It may begin anew, if more is asked for: what was counted here does not count, and sets of states are no longer sets of it. */
static void on_point(struct explorer *e, bool is_again, void *arg)
{
	struct worker *w = arg;

	for (size_t i = 0; i < w->known.n && !is_again; i++) {
		struct known_bug *k = &w->known.at[i];

		if (k->state_point == e->walk->point)
			k->bug.count -= k->count_here;
		k->count_here = k->state_point = 0;
	}
	if (w->races)
		races_begin_point(w->races, e, is_again);
}

static void tell_races(struct worker *w)
{
	const struct race *list;
	size_t n = w->races ? races_list(w->races, &list) : 0;

	for (size_t i = 0; i < n; i++) {
		struct race race = list[i];
		struct wire m = { 0 };

		wire_number(&m, 'R');
		race_pass(&m, &race);
		worker_tell(w, &m);
	}
}

static void tell_turns(struct worker *w)
{
	race_turns *list = w->races ? races_turns(w->races) : NULL;

	for (size_t i = 0; list && i < list->n; i++) {
		struct wire m = { 0 };

		wire_number(&m, 'T');
		race_turn_pass(&m, &list->at[i]);
		worker_tell(w, &m);
	}
}

/* ---- known bugs ---- */

/* The state loses at least what the smallest loss of a known bug does. */
static bool covers(const struct explorer *e, const uint64_t *state, const struct sparse_set *smallest)
{
	const struct state_set *s = &e->set;

	for (size_t i = 0; i < smallest->parts.n; i++) {
		const struct state_line *l = &s->lines.at[smallest->parts.at[i].line];
		uint32_t known = 0;

		bits_newest(smallest->words.at + smallest->parts.at[i].at, l->words, &known);
		if (!states_loses(s, e->walk->model, l, states_newest_left(l, state), known, true))
			return false;
	}
	return true;
}

/* An order of bugs that does not depend on which of them this worker met first, nor where: by what makes two of them one. */
static bool is_before(const struct crash_bug *a, const struct crash_bug *b)
{
	const uint32_t x[] = { a->lost.n ? a->lost.at[0].site : 0, a->is_survivor_guessed, bug_survivor(a),
			       a->acknowledged.site, a->lost.n + a->survived.n ? 0 : a->at_site };
	const uint32_t y[] = { b->lost.n ? b->lost.at[0].site : 0, b->is_survivor_guessed, bug_survivor(b),
			       b->acknowledged.site, b->lost.n + b->survived.n ? 0 : b->at_site };

	for (size_t i = 0; i < sizeof x / sizeof *x; i++)
		if (x[i] != y[i])
			return x[i] < y[i];
	return strcmp(a->kind, b->kind) < 0;
}

/* The known bug that the failure counts for. */
static struct known_bug *find_here(struct worker *w, const uint64_t *state, const struct verdict *v)
{
	struct known_bug *found = NULL;

	for (size_t i = 0; i < w->known.n; i++) {
		struct known_bug *k = &w->known.at[i];

		if (k->state_point == w->explorer.walk->point && (!found || is_before(&k->bug, &found->bug)) && verdict_same(&k->verdict, v) &&
		    covers(&w->explorer, state, &k->state))
			found = k;
	}
	return found;
}

static void tell_bug(struct worker *w, size_t number)
{
	struct wire m = { 0 };

	wire_number(&m, 'B');
	wire_number(&m, number);
	bug_pass(&m, &w->known.at[number].bug);
	worker_tell(w, &m);
}

/* The same as one that is known: it is the earlier failure point that is told of. */
static void remember_earlier(struct worker *w, size_t number, struct crash_bug *b, const struct verdict *v)
{
	struct crash_bug *known = &w->known.at[number].bug, later = *b;

	if (b->point < known->point) {
		b->varies |= choices_find(&w->explorer, b->state, v, b->printed, &b->choices, &b->nchoices);
		later = *known;
		*known = *b;
		known->count = later.count;
		known->runs = later.runs;
		tell_bug(w, number);
	}
	crash_bug_release(&later);
}

static struct known_bug *remember(struct worker *w, struct crash_bug *b, const struct verdict *v)
{
	for (size_t i = 0; i < w->known.n; i++)
		if (bug_same(&w->known.at[i].bug, b)) {
			remember_earlier(w, i, b, v);
			w->known.at[i].verdict = *v; /* it may fail in another way here */
			return &w->known.at[i];
		}
	b->runs = __atomic_load_n(&w->explorer.counters->runs, __ATOMIC_RELAXED);
	b->varies |= choices_find(&w->explorer, b->state, v, b->printed, &b->choices, &b->nchoices);
	*vec_add(&w->known) = (struct known_bug){ .bug = *b, .verdict = *v };
	tell_bug(w, w->known.n - 1);
	__atomic_fetch_add(&w->explorer.counters->bugs, 1, __ATOMIC_RELAXED);
	w->known.at[w->known.n - 1].bug.count = 0;
	return &w->known.at[w->known.n - 1];
}

/* The behaviours that the state is one of. */
static void tell_failed(struct worker *w, const uint64_t *state)
{
	struct explorer *e = &w->explorer;

	uint64_t *set = e->tests.n > 0 ? states_all(&e->set) : NULL;

	for (size_t i = 0; i < e->tests.n; i++) {
		struct wire m = { 0 };

		sparse_expand(&e->tests.at[i].set, &e->set, set);
		if (!states_include(&e->set, set, state))
			continue;
		wire_number(&m, 'V');
		wire_number(&m, w->reps->tests.at[w->stop->first + i]);
		worker_tell(w, &m);
	}
	free(set);
}

/* A failure that is none of the program's, as far as is known. 1: the run says nothing. */
static int note_unexplained(struct crash_counters *c, enum minimise_end end)
{
	if (end == MINIMISE_UNSTABLE)
		__atomic_fetch_add(&c->unstable, 1, __ATOMIC_RELAXED);
	if (end == MINIMISE_LIMITED)
		__atomic_fetch_add(&c->impossible, 1, __ATOMIC_RELAXED);
	if (end == MINIMISE_LATE) {
		__atomic_fetch_add(&c->unconfirmed, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&c->is_late, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&c->is_stopped, 1, __ATOMIC_RELAXED);
	}
	return end != MINIMISE_UNSTABLE;
}

static int on_failure(struct explorer *e, const uint64_t *state, const struct verdict *v, void *arg, struct error *err)
{
	struct verdict first = *v;
	struct worker *w = arg;
	struct known_bug *k = find_here(w, state, v);
	struct crash_bug b;
	uint64_t *smallest;
	uint32_t survived;
	enum minimise_end end;

	tell_failed(w, state);
	if (k) {
		k->bug.count++;
		k->count_here++;
		return 0;
	}
	smallest = states_copy(&e->set, state);
	end = explain(e, smallest, v, &b, err);
	if (end != MINIMISE_DONE) {
		free(smallest);
		crash_bug_release(&b);
		return end == MINIMISE_ERROR ? -1 : note_unexplained(e->counters, end);
	}
	free(smallest);
	smallest = state_parse(&e->set, b.state, err); /* explaining lost more than needed */
	survived = b.survived.n ? b.survived.at[0].site : 0;
	k = remember(w, &b, &first);
	k->bug.count++;
	k->count_here++;
	sparse_take(&k->state, &e->set, smallest, SPARSE_NEWEST);
	explorer_know(e, smallest, survived);
	free(smallest);
	k->state_point = e->walk->point;
	return 0;
}

/* ---- work ---- */

static void tell_end(struct worker *w)
{
	char *seen = big_string(&w->explorer.states_seen), *all = big_string(&w->explorer.states_all);
	struct wire m = { 0 };

	wire_number(&m, 'C');
	wire_number(&m, w->known.n);
	for (size_t i = 0; i < w->known.n; i++)
		wire_number(&m, w->known.at[i].bug.count);
	worker_tell(w, &m);
	tell_races(w);
	tell_turns(w);
	wire_number(&m, 'E');
	wire_string(&m, seen);
	wire_string(&m, all);
	wire_string(&m, w->explorer.why_fallback[0] ? w->explorer.why_fallback : NULL);
	wire_string(&m, w->explorer.why_impossible[0] ? w->explorer.why_impossible : NULL);
	worker_tell(w, &m);
	free(seen);
	free(all);
}

static void tell_error(struct worker *w, struct error *err)
{
	struct wire m = { 0 };

	wire_number(&m, 'X');
	wire_string(&m, err->msg);
	worker_tell(w, &m);
}

int worker_run(const struct plan *p, const struct crash_options *o, const struct references *refs, const struct representatives *reps,
	       struct crash_counters *counters, struct race_table *table, uint32_t number, const struct lot *lot, int fd)
{
	struct worker w = { .refs = refs, .reps = reps, .fd = fd, .table = table, .number = number, .jobs = o->jobs, .lot = lot, .index = o->index, .wants_first_crashes = o->wants_first_crashes,
			    .watches_output = o->watches_output,
			    .is_whole = o->shard.of && !o->races.is_wanted && !o->limits.max_runs && !o->limits.deadline_ns };
	struct runner_options runner = o->runner;
	struct walk walk = { 0 };
	struct error err = { "" };
	int result = -1;

	runner.is_cancelled = &counters->is_interrupted;
	w.explorer = (struct explorer){ .strategy = o->strategy,
					.walk = &walk,
					.recovery = o->recovery,
					.limits = o->limits,
					.counters = counters,
					.on_failure = on_failure,
					.on_point = on_point,
					.on_run = o->wants_first_crashes || o->races.is_wanted || o->watches_output ? on_run : NULL,
					.arg = &w };
	if (o->races.is_wanted) {
		w.races = races_new(&o->races, table, number);
		w.explorer.wants_reads = true;
	}
	w.explorer.runner = runner_new(&runner, p->mappings.at, p->mappings.n, &err);
	if (o->allowed) {
		w.is_allowed_fixed = true;
		for (size_t i = 0; i < o->allowed->hashes.n; i++)
			*vec_add(&w.explorer.allowed.hashes) = o->allowed->hashes.at[i];
	}
	if (w.explorer.runner) {
		walk_init(&walk, p, o->stops);
		if (w.races)
			walk_add_shadow(&walk);
		result = rounds_explore(&w, &err);
	}
	if (result < 0)
		__atomic_store_n(&counters->is_stopped, 1, __ATOMIC_RELAXED); /* nobody is to wait for this one */
	rounds_release(&w);
	if (table)
		race_table_begin(table, number, UINT64_MAX);
	if (result < 0 && __atomic_load_n(&counters->is_interrupted, __ATOMIC_RELAXED))
		result = 0; /* the run that was ended does not count; the report says that it was interrupted */
	if (result < 0)
		tell_error(&w, &err);
	tell_end(&w);
	if (w.explorer.runner && runner_has_moved(w.explorer.runner))
		__atomic_store_n(&counters->has_moved, 1, __ATOMIC_RELAXED);
	if (w.explorer.runner && runner_has_sandbox(w.explorer.runner))
		__atomic_store_n(&counters->has_sandbox, 1, __ATOMIC_RELAXED);
	if (w.explorer.runner && runner_has_opened(w.explorer.runner))
		__atomic_store_n(&counters->has_opened, 1, __ATOMIC_RELAXED);
	if (w.explorer.runner && runner_has_missed(w.explorer.runner))
		__atomic_store_n(&counters->has_missed, 1, __ATOMIC_RELAXED);
	runner_free(w.explorer.runner);
	for (size_t i = 0; i < w.known.n; i++) {
		crash_bug_release(&w.known.at[i].bug);
		sparse_release(&w.known.at[i].state);
	}
	vec_release(&w.known);
	vec_release(&w.signatures);
	outputs_release(&w.outputs);
	races_free(w.races);
	explorer_release(&w.explorer);
	walk_release(&walk);
	return result < 0;
}
