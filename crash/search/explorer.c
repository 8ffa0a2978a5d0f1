/* See explore.h. Lazy exploration: a run begins with a set of states and narrows it by what it reads. Of the states it left aside, those that
 * took another turn at its first decision are one set, those that agree with the first and differ at the second another, and so on: these
 * sets are disjoint and cover everything, and each is a beginning of its own. No run needs to follow another's order of events. */
#include "crash/search/explorer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "crash/states/states_of_stores.h"
#include "util/error.h"

#define PATIENCE 4u

uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool explorer_may_run(struct explorer *e)
{
	if (__atomic_load_n(&e->counters->is_stopped, __ATOMIC_RELAXED))
		return false;
	if ((e->limits.deadline_ns && clock_ns() >= e->limits.deadline_ns) ||
	    (e->limits.max_runs && __atomic_load_n(&e->counters->runs, __ATOMIC_RELAXED) >= e->limits.max_runs)) {
		__atomic_store_n(&e->counters->is_stopped, 1, __ATOMIC_RELAXED);
		return false;
	}
	return true;
}

/* ---- one run ---- */

static int run_once(struct explorer *e, const uint64_t *set, bool is_lazy, struct verdict *v, struct error *err)
{
	int result;

	runner_begin(e->runner, set, is_lazy);
	result = verdict_run(v, e->runner, e->recovery, &e->allowed, err);
	__atomic_fetch_add(&e->counters->faults, runner_faults(e->runner), __ATOMIC_RELAXED);
	return result;
}

/* A run that takes too long tells less about what is read, and may do so for the machine's sake: it gets more time, until one was seen that needs
 * more than that. A failing state is run again anyway (minimise.h). */
static int run(struct explorer *e, const uint64_t *set, bool is_lazy, struct verdict *v, struct error *err)
{
	const uint32_t timeout_ms = runner_timeout(e->runner);
	int result = run_once(e, set, is_lazy, v, err);

	if (result < 0 || v->kind != VERDICT_HANG || !e->wants_reads || __atomic_load_n(&e->counters->hangs, __ATOMIC_RELAXED))
		return result;
	runner_set_timeout(e->runner, timeout_ms * PATIENCE);
	result = run_once(e, set, is_lazy, v, err);
	runner_set_timeout(e->runner, timeout_ms);
	if (result == 0 && v->kind == VERDICT_HANG)
		__atomic_fetch_add(&e->counters->hangs, 1, __ATOMIC_RELAXED);
	return result;
}

int explorer_ask(struct explorer *e, const uint64_t *set, struct verdict *v, struct error *err)
{
	int result;

	__atomic_fetch_add(&e->counters->diagnosis_runs, 1, __ATOMIC_RELAXED);
	runner_want_stacks(e->runner, false);
	result = run(e, set, true, v, err);
	runner_want_stacks(e->runner, true);
	return result;
}

int explorer_try(struct explorer *e, const uint64_t *state, struct verdict *v, struct error *err)
{
	__atomic_fetch_add(&e->counters->diagnosis_runs, 1, __ATOMIC_RELAXED);
	return run(e, state, false, v, err);
}

static void count_run(struct explorer *e, const uint64_t *left)
{
	struct big n = { 0 };

	e->nruns++;
	if (e->is_diagnosis) {
		__atomic_fetch_add(&e->counters->diagnosis_runs, 1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_fetch_add(&e->counters->runs, 1, __ATOMIC_RELAXED);
	states_count(&e->set, left, &n);
	big_add(&e->states_seen, &n);
	big_release(&n);
}

/* The state that memory held: of what is left, the newest in each line. */
static uint64_t *state_of(const struct explorer *e, const uint64_t *left)
{
	uint64_t *state = states_copy(&e->set, left);

	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];

		states_only(l, state, states_newest_left(l, left));
	}
	return state;
}

static int judge(struct explorer *e, const uint64_t *left, const struct verdict *v, struct error *err)
{
	uint64_t *state;
	int failed;

	if (v->kind == VERDICT_OK || e->is_diagnosis)
		return 0;
	__atomic_fetch_add(&e->counters->failures, 1, __ATOMIC_RELAXED);
	state = state_of(e, left);
	failed = e->on_failure(e, state, v, e->arg, err);
	free(state);
	return failed;
}

/* ---- whole images ---- */

static int explore_state(struct explorer *e, const uint64_t *state, struct error *err)
{
	struct verdict v;

	if (run(e, state, false, &v, err) < 0)
		return -1;
	if (v.why_unsound) {
		snprintf(e->why_fallback, sizeof e->why_fallback, "%s", v.why_unsound);
		__atomic_fetch_add(&e->counters->impossible, 1, __ATOMIC_RELAXED);
		return 0;
	}
	count_run(e, state);
	if (e->on_run)
		e->on_run(e, state, state, &v, e->arg);
	return judge(e, state, &v, err);
}

/* The next state of the set after `state`, in the order of an odometer. */
static bool next_state(const struct explorer *e, const uint64_t *set, uint64_t *state)
{
	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];
		uint32_t at = states_newest_left(l, state), first = at;

		while (at-- > 0)
			if (bit_get(set + l->set, at)) {
				states_only(l, state, at);
				return true;
			}
		first = states_newest_left(l, set);
		states_only(l, state, first);
	}
	return false;
}

/* Every state of a set, newest first. */
static int explore_whole(struct explorer *e, const uint64_t *set, struct error *err)
{
	uint64_t *state = state_of(e, set);
	int result = 0;

	do {
		if (!explorer_may_run(e))
			break;
		if (e->limits.sample && e->nruns >= e->limits.sample) {
			e->is_cut = true;
			break;
		}
		result = explore_state(e, state, err);
	} while (result == 0 && next_state(e, set, state));
	free(state);
	return result;
}

static int explore_eager(struct explorer *e, struct error *err)
{
	uint64_t *all = states_all(&e->set);
	int result = explore_whole(e, all, err);

	free(all);
	return result;
}

/* ---- lazily ---- */

struct agenda {
	VEC(uint64_t *) sets;
};

static bool same_value(const struct state_set *s, const struct state_line *l, const struct run_decision *d, uint32_t a, uint32_t b)
{
	const uint8_t *x = state_content(s, l, a) + d->at, *y = state_content(s, l, b) + d->at;

	for (uint64_t m = d->mask; m; m &= m - 1) {
		int i = __builtin_ctzll(m);

		if (x[i] != y[i])
			return false;
	}
	return true;
}

/* Moves the contents that have the value of `like` in the bytes that were read from one set to another. */
static void move_alike(const struct state_set *s, const struct state_line *l, const struct run_decision *d, uint32_t like,
		       uint64_t *from, uint64_t *to)
{
	for (uint32_t c = 0; c < l->ncontents; c++)
		if (bit_get(from + l->set, c) && same_value(s, l, d, like, c)) {
			bit_put(from + l->set, c, false);
			bit_put(to + l->set, c, true);
		}
}

static void agenda_add(const struct explorer *e, struct agenda *todo, uint64_t *set)
{
	for (size_t i = 0; e->tests.n > 1 && i < todo->sets.n; i++)
		if (memcmp(todo->sets.at[i], set, e->set.nwords * sizeof *set) == 0) {
			free(set); /* of two behaviours in the same lines */
			return;
		}
	*vec_add(&todo->sets) = set;
}

/* Puts the sets that turned another way at this decision on the agenda (NULL: not), and narrows `left` to the way taken. */
static void branch(struct explorer *e, struct agenda *todo, uint64_t *left, const struct run_decision *d)
{
	const struct state_line *l = &e->set.lines.at[d->line];
	uint64_t *rest, *taken;

	if (d->nvalues < 2)
		return;
	taken = states_copy(&e->set, left);
	rest = states_copy(&e->set, left);
	memset(taken + l->set, 0, l->words * sizeof *taken);
	move_alike(&e->set, l, d, d->chosen, rest, taken);
	while (todo && states_left(l, rest) > 0) {
		uint64_t *other = states_copy(&e->set, left);

		memset(other + l->set, 0, l->words * sizeof *other);
		move_alike(&e->set, l, d, states_newest_left(l, rest), rest, other);
		agenda_add(e, todo, other);
	}
	memcpy(left + l->set, taken + l->set, l->words * sizeof *left);
	free(taken);
	free(rest);
}

static void check_left(const struct explorer *e, const uint64_t *left)
{
	if (memcmp(left, runner_left(e->runner), e->set.nwords * sizeof *left) != 0)
		BUG("the runtime and the explorer disagree about what is left");
}

/* After a run: what it left aside. Leaves in `left` what the run stands for. */
static void branch_all(struct explorer *e, struct agenda *todo, uint64_t *left)
{
	const struct run_decision *d;
	size_t n = runner_decisions(e->runner, &d), first = todo->sets.n;

	for (size_t i = 0; i < n; i++)
		branch(e, todo, left, &d[i]);
	/* What was read first is looked at first. */
	for (size_t i = first, j = todo->sets.n; i + 1 < j; i++) {
		uint64_t *t = todo->sets.at[i];

		todo->sets.at[i] = todo->sets.at[--j];
		todo->sets.at[j] = t;
	}
	check_left(e, left);
}

static uint64_t next_random(uint64_t *seed)
{
	uint64_t x = *seed += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* The next set to look at: what the last run turned away from first; a random one when there is no time for all. */
static uint64_t *agenda_take(struct explorer *e, struct agenda *todo)
{
	size_t i = todo->sets.n - 1;
	uint64_t *set;

	if (e->limits.sample && e->nruns + todo->sets.n > e->limits.sample)
		i = next_random(&e->random) % todo->sets.n;
	set = todo->sets.at[i];
	todo->sets.at[i] = todo->sets.at[--todo->sets.n];
	return set;
}

/* Laziness failed: the same states as whole images, as many as one point may have. */
#define FALLBACK_STATES 256

static int fall_back(struct explorer *e, const uint64_t *set, const char *why, struct error *err)
{
	uint64_t saved = e->limits.sample;
	int result;

	snprintf(e->why_fallback, sizeof e->why_fallback, "%s", why);
	__atomic_fetch_add(&e->counters->fallbacks, 1, __ATOMIC_RELAXED);
	if (!e->limits.sample)
		e->limits.sample = e->nruns + FALLBACK_STATES;
	result = explore_whole(e, set, err);
	e->limits.sample = saved;
	return result;
}

static int explore_set(struct explorer *e, struct agenda *todo, uint64_t *set, struct error *err)
{
	uint64_t *left = states_copy(&e->set, set);
	struct verdict v;
	int result;

	if (run(e, set, true, &v, err) < 0) {
		result = -1;
	} else if (v.why_unsound) {
		result = fall_back(e, set, v.why_unsound, err);
	} else {
		branch_all(e, todo, left);
		count_run(e, left);
		if (e->on_run)
			e->on_run(e, set, left, &v, e->arg);
		result = judge(e, left, &v, err);
	}
	free(left);
	return result;
}

/* Until there is nothing left, or no time. */
static int explore_agenda(struct explorer *e, struct agenda *todo, struct error *err)
{
	int result = 0;

	while (todo->sets.n > 0 && result == 0) {
		uint64_t *set;

		if (!explorer_may_run(e))
			break;
		if (e->limits.sample && e->nruns >= e->limits.sample) {
			e->is_cut = true;
			break;
		}
		set = agenda_take(e, todo);
		result = explore_set(e, todo, set, err);
		free(set);
	}
	return result;
}

static void agenda_release(struct agenda *todo)
{
	while (todo->sets.n > 0)
		free(todo->sets.at[--todo->sets.n]);
	vec_release(&todo->sets);
}

static int explore_lazy(struct explorer *e, struct error *err)
{
	struct agenda todo = { 0 };
	int result;

	*vec_add(&todo.sets) = states_all(&e->set);
	result = explore_agenda(e, &todo, err);
	agenda_release(&todo);
	return result;
}

/* ---- behaviours ---- */

/* The sets of all behaviours to test, and, in `all`, the smallest set with them all. */
static void set_tests(struct explorer *e, uint64_t *all)
{
	for (size_t i = 0; i < e->tests.n; i++) {
		struct explorer_test *t = &e->tests.at[i];

		t->set = states_of_stores(&e->set, e->walk->model, t->seqs, t->nseqs);
		for (size_t w = 0; w < e->set.nwords; w++)
			all[w] |= t->set[w];
	}
}

/* Another one stands for all of its states. */
static bool is_included(const struct explorer *e, size_t i)
{
	for (size_t k = 0; k < e->tests.n; k++)
		if (k != i && states_include(&e->set, e->tests.at[k].set, e->tests.at[i].set) &&
		    (k < i || !states_include(&e->set, e->tests.at[i].set, e->tests.at[k].set)))
			return true;
	return false;
}

/* The first run has nothing lost, and is the same for all behaviours: it is done with all of their lines undecided, and each goes on from there
 * with its own. */
static int explore_first(struct explorer *e, struct agenda *todo, uint64_t *all, struct error *err)
{
	const struct run_decision *d;
	struct verdict v;
	size_t n;

	if (run(e, all, true, &v, err) < 0)
		return -1;
	if (v.why_unsound) {
		for (size_t i = 0; i < e->tests.n; i++)
			if (!is_included(e, i) && fall_back(e, e->tests.at[i].set, v.why_unsound, err) < 0)
				return -1;
		return e->tests.n > 0 ? 0 : fall_back(e, all, v.why_unsound, err);
	}
	n = runner_decisions(e->runner, &d);
	for (size_t i = 0; i < e->tests.n; i++) {
		uint64_t *left = is_included(e, i) ? NULL : states_copy(&e->set, e->tests.at[i].set);

		for (size_t k = 0; left && k < n; k++)
			branch(e, todo, left, &d[k]);
		free(left);
	}
	for (size_t k = 0; k < n; k++)
		branch(e, NULL, all, &d[k]);
	check_left(e, all);
	count_run(e, all);
	if (e->on_run)
		e->on_run(e, all, all, &v, e->arg);
	return judge(e, all, &v, err);
}

static int explore_representative(struct explorer *e, struct error *err)
{
	uint64_t *all = states_newest(&e->set);
	struct agenda todo = { 0 };
	int result = 0;

	set_tests(e, all);
	if (explorer_may_run(e))
		result = explore_first(e, &todo, all, err);
	if (result == 0)
		result = explore_agenda(e, &todo, err);
	agenda_release(&todo);
	free(all);
	return result;
}

int explorer_again(struct explorer *e, uint64_t max_runs, struct error *err)
{
	uint64_t sample = e->limits.sample;
	bool is_cut = e->is_cut;
	int result;

	runner_load(e->runner, &e->walk->image, &e->set);
	e->nruns = 0;
	e->limits.sample = max_runs;
	e->is_diagnosis = true;
	result = explore_lazy(e, err);
	e->is_diagnosis = false;
	e->limits.sample = sample;
	e->is_cut = is_cut;
	return result;
}

/* A lazy run takes the newest values, too, and tells what was read. */
static int explore_prefix(struct explorer *e, struct error *err)
{
	uint64_t *newest = states_newest(&e->set), *all = states_all(&e->set);
	struct verdict v;
	int result = 0;

	if (e->wants_reads)
		result = run(e, all, true, &v, err);
	if (result < 0 || !e->wants_reads || v.why_unsound) {
		result = result < 0 ? -1 : explore_state(e, newest, err);
	} else {
		count_run(e, newest);
		e->on_run(e, all, newest, &v, e->arg);
		result = judge(e, newest, &v, err);
	}
	free(newest);
	free(all);
	return result;
}

/* ---- points ---- */

static const struct strategy lazy = { .name = "lazy", .help = "states refined by what recovery reads (default)", .explore = explore_lazy };
static const struct strategy eager = { .name = "eager", .help = "every state, one run each", .explore = explore_eager };
static const struct strategy prefix = { .name = "prefix",
					.help = "one state a failure point: nothing lost",
					.is_single = true,
					.explore = explore_prefix };
static const struct strategy representative = { .name = "representative",
						.help = "one update behaviour on behalf of all that resemble it",
						.is_representative = true,
						.explore = explore_representative };

const struct strategy *const strategies[] = { &lazy, &representative, &eager, &prefix, NULL };

const struct strategy *strategy_find(const char *name)
{
	for (size_t i = 0; strategies[i]; i++)
		if (strcmp(strategies[i]->name, name) == 0)
			return strategies[i];
	return NULL;
}

static void release_tests(struct explorer *e)
{
	for (size_t i = 0; i < e->tests.n; i++)
		free(e->tests.at[i].set);
	e->tests.n = 0;
}

void explorer_add_test(struct explorer *e, const uint64_t *seqs, size_t nseqs)
{
	*vec_add(&e->tests) = (struct explorer_test){ seqs, nseqs, NULL };
}

void explorer_release(struct explorer *e)
{
	release_tests(e);
	vec_release(&e->tests);
	states_release(&e->set);
	around_release(&e->around);
	vec_release(&e->allowed.hashes);
	big_release(&e->states_seen);
	big_release(&e->states_all);
}

int explorer_point(struct explorer *e, struct error *err)
{
	struct big n = { 0 };
	uint64_t *all;
	int result;

	states_collect(&e->set, e->walk->model);
	if (e->on_point)
		e->on_point(e, e->arg);
	all = states_all(&e->set);
	states_count(&e->set, all, &n);
	big_add(&e->states_all, &n);
	big_release(&n);
	free(all);
	e->nruns = 0;
	e->random = e->limits.seed + e->walk->point * 0x2545f4914f6cdd1du; /* whoever comes here, and from where */
	e->is_cut = e->set.is_partial;
	runner_load(e->runner, &e->walk->image, &e->set);
	result = e->strategy->explore(e, err);
	release_tests(e);
	if (__atomic_load_n(&e->counters->is_stopped, __ATOMIC_RELAXED))
		return result; /* it may not be done */
	if (e->is_cut)
		__atomic_fetch_add(&e->counters->cut_points, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&e->counters->points, 1, __ATOMIC_RELAXED);
	return result;
}
