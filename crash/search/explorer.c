/* Runs recovery on states of a failure point, counts the runs, and judges whether they failed. A
 * failing state is passed to the caller. */
#include <time.h>

#include "crash/search/explorer_internal.h"

#define PATIENCE 4u

uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool explorer_may_run(struct explorer *e)
{
	bool is_late;

	if (__atomic_load_n(&e->counters->is_stopped, __ATOMIC_RELAXED))
		return false;
	is_late = e->limits.deadline_ns && clock_ns() >= e->limits.deadline_ns;
	if (is_late)
		__atomic_store_n(&e->counters->is_late, 1, __ATOMIC_RELAXED);
	if (is_late ||
	    (e->limits.max_runs &&
	     __atomic_load_n(&e->counters->runs, __ATOMIC_RELAXED) >= e->limits.max_runs)) {
		__atomic_store_n(&e->counters->is_stopped, 1, __ATOMIC_RELAXED);
		return false;
	}
	return true;
}

bool explorer_may_be_brief(const struct explorer *e)
{
	return !e->wants_reads && !e->is_diagnosis && !e->recovery->ready &&
	       __atomic_load_n(&e->counters->confirmed_hangs, __ATOMIC_RELAXED) > 0;
}

bool explorer_is_paused(const struct explorer *e)
{
	return e->pause_at && e->nruns >= e->pause_at && !e->is_diagnosis;
}

bool explorer_is_sampled(struct explorer *e)
{
	const bool is_sampled = e->limits.sample && e->nruns >= e->limits.sample;

	e->is_cut |= is_sampled;
	return is_sampled;
}

/* Is the deadline, with the time that is allowed after it, more than `ms` milliseconds away? Yes if
 * there is no deadline. */
static bool has_time(const struct explorer *e, uint64_t ms)
{
	return !e->limits.deadline_ns ||
	       clock_ns() + ms * 1000000u < e->limits.deadline_ns + e->limits.grace_ns;
}

bool explorer_is_late(const struct explorer *e)
{
	return !has_time(e, 0);
}

bool explorer_is_interrupted(const struct explorer *e)
{
	return __atomic_load_n(&e->counters->is_interrupted, __ATOMIC_RELAXED);
}

/* ---- what was read ---- */

static uint64_t read_bit(uint64_t addr)
{
	return (addr / 8 * 0x9e3779b97f4a7c15u >> 32) % (READ_WORDS * 64);
}

bool counters_have_read(const struct crash_counters *c, uint64_t addr, uint64_t len_bytes)
{
	for (uint64_t at = addr / 8 * 8; at < addr + len_bytes; at += 8)
		if (c->read_words[read_bit(at) / 64] >> read_bit(at) % 64 & 1)
			return true;
	return false;
}

/* Notes the reads of undecided bytes. set: the set that the decisions are about; NULL: the one that
 * the runner has loaded. */
static void note_reads(struct explorer *e, const struct state_set *set,
		       const struct run_decision *d, size_t n)
{

	for (size_t i = 0; i < n; i++)
		for (uint64_t m = d[i].mask; m; m &= m - 1) {
			const uint64_t line = set ? set->lines.at[d[i].line].addr
						  : runner_line(e->runner, d[i].line);
			const uint64_t bit =
				read_bit(line + d[i].at + (uint64_t)__builtin_ctzll(m));

			__atomic_fetch_or(&e->counters->read_words[bit / 64],
					  (uint64_t)1 << bit % 64, __ATOMIC_RELAXED);
		}
}

/* Gives the bytes read whose values the listed contents of the line do not tell apart. */
static uint64_t unasked(const struct state_line *l, const struct run_decision *d)
{
	return d->mask << d->at % 64 & ~l->asked;
}

static bool reads_unasked(const struct explorer *e)
{
	const struct run_decision *d;
	const size_t n = explorer_decisions(e, &d);

	for (size_t i = 0; i < n; i++)
		if (unasked(&e->set.lines.at[d[i].line], &d[i]))
			return true;
	return false;
}

/* ---- one run ---- */

void explorer_load(struct explorer *e)
{
	if (!e->is_loaded)
		runner_load(e->runner, &e->walk->image, &e->set);
	e->is_loaded = true;
}

size_t explorer_decisions(const struct explorer *e, const struct run_decision **list)
{
	if (!e->has_taken)
		return runner_decisions(e->runner, list);
	*list = e->taken.at;
	return e->taken.n;
}

static int run_once(struct explorer *e, const uint64_t *set, bool is_lazy, struct verdict *v,
		    struct error *err)
{
	int result;

	explorer_load(e);
	e->has_taken = e->is_shared = false;
	runner_begin(e->runner, set, is_lazy);
	runner_be_brief(e->runner, e->is_brief);
	result = verdict_run(v, e->runner, e->recovery, &e->allowed, err);
	runner_be_brief(e->runner, false);
	e->was_brief = result == 0 && v->kind == VERDICT_HANG && v->result.is_brief;
	__atomic_fetch_add(&e->counters->faults, runner_faults(e->runner), __ATOMIC_RELAXED);
	if (result == 0 && v->kind == VERDICT_SIGNAL)
		v->site = deaths_find(&e->deaths, e->runner, v->command, &v->result);
	if (result == 0 && is_lazy && !v->why_unsound)
		__atomic_fetch_add(&e->counters->lazy_runs, 1, __ATOMIC_RELAXED);
	return result;
}

/* Runs recovery, and gives it more time if it reaches the time limit, until one run has shown that
 * more time does not help. The cause may be a slow machine, and a run that is cut off tells less
 * about what it reads. A failing state is run again anyway (minimise.h). */
static int run_patiently(struct explorer *e, const uint64_t *set, bool is_lazy, struct verdict *v,
			 struct error *err)
{
	const uint32_t timeout_ms = runner_timeout(e->runner);
	int result = run_once(e, set, is_lazy, v, err);

	if (result < 0 || v->kind != VERDICT_HANG || !e->wants_reads ||
	    __atomic_load_n(&e->counters->hangs, __ATOMIC_RELAXED) ||
	    !has_time(e, timeout_ms * PATIENCE))
		return result;
	runner_set_timeout(e->runner, timeout_ms * PATIENCE);
	result = run_once(e, set, is_lazy, v, err);
	runner_set_timeout(e->runner, timeout_ms);
	if (result == 0 && v->kind == VERDICT_HANG)
		__atomic_fetch_add(&e->counters->hangs, 1, __ATOMIC_RELAXED);
	return result;
}

int explorer_run(struct explorer *e, const uint64_t *set, bool is_lazy, struct verdict *v,
		 struct error *err)
{
	const int result = run_patiently(e, set, is_lazy, v, err);
	const struct run_decision *d;
	size_t n;

	if (result == 0 && is_lazy) {
		n = runner_decisions(e->runner, &d);
		note_reads(e, NULL, d, n);
	}
	return result;
}

/* ---- runs of a window ---- */

static uint64_t moment_of(const struct explorer *e)
{
	const struct walk *w = e->walk;

	if (!e->window || e->is_unwatched)
		return 0;
	return window_moment(e->window, w->seq, recovery_operation(e->recovery, w->plan, w->seq));
}

/* Judges a run of another failure point for this one: the dump is compared with what is allowed
 * here. False: the text of the run is needed, and was not kept. */
static bool judge_hit(struct explorer *e, struct window_hit *hit)
{
	struct verdict *v = &hit->verdict;

	if (v->kind == VERDICT_OK || v->kind == VERDICT_DUMP)
		verdict_judge_dump(v, e->recovery, &e->allowed);
	if (hit->has_text)
		return true;
	return v->kind == VERDICT_OK && !(e->wants_text && e->wants_text(e, hit->left, v, e->arg));
}

/* Makes a run that lists all reads that matter to the window, and keeps it for the window's other
 * failure points. */
static int run_watched(struct explorer *e, uint64_t moment, const uint64_t *set, struct verdict *v,
		       struct error *err)
{
	const struct run_decision *d;
	struct verdict raw;
	size_t n;
	int result;

	runner_watch(e->runner, WATCH_ALL);
	result = run_patiently(e, set, true, v, err);
	runner_watch(e->runner, WATCH_JUDGED);
	if (result < 0 || v->why_unsound)
		return result;
	raw = *v;
	n = runner_decisions(e->runner, &d);
	window_strip(d, n, &e->taken, v);
	e->has_taken = true;
	note_reads(e, &e->set, e->taken.at, e->taken.n);
	if (v->kind != VERDICT_HANG && v->kind != VERDICT_NOT_READY)
		window_keep(e->window, moment, &e->set, runner_left(e->runner), d, n, &raw);
	return 0;
}

/* Makes a run as for a failure point without a window: reads that only the window needs are not
 * listed. */
static int run_alone(struct explorer *e, const uint64_t *set, struct verdict *v, struct error *err)
{
	int result;

	if (e->window)
		runner_watch(e->runner, WATCH_NOTHING);
	result = explorer_run(e, set, true, v, err);
	runner_watch(e->runner, WATCH_JUDGED);
	return result;
}

int explorer_run_lazily(struct explorer *e, const uint64_t *set, struct verdict *v,
			struct error *err)
{
	const uint64_t moment = moment_of(e);
	struct window_hit hit;
	int result;

	if (!moment)
		return run_alone(e, set, v, err);
	if (window_find(e->window, moment, &e->set, set, &hit) && judge_hit(e, &hit)) {
		*v = hit.verdict;
		vec_release(&e->taken);
		e->taken = hit.decisions;
		free(hit.left);
		e->has_taken = e->is_shared = true;
		e->was_brief = false;
		note_reads(e, &e->set, e->taken.at, e->taken.n);
		return 0;
	}
	window_hit_release(&hit);
	result = run_watched(e, moment, set, v, err);
	if (result == 0 && v->why_unsound) {
		e->is_unwatched = true;
		result = run_alone(e, set, v, err);
	}
	return result;
}

int explorer_ask(struct explorer *e, const uint64_t *set, struct verdict *v, struct error *err)
{
	int result;

	__atomic_fetch_add(&e->counters->diagnosis_runs, 1, __ATOMIC_RELAXED);
	runner_want_stacks(e->runner, false);
	result = explorer_run(e, set, true, v, err);
	runner_want_stacks(e->runner, true);
	return result;
}

int explorer_try(struct explorer *e, const uint64_t *state, struct verdict *v, struct error *err)
{
	__atomic_fetch_add(&e->counters->diagnosis_runs, 1, __ATOMIC_RELAXED);
	return explorer_run(e, state, false, v, err);
}

/* Finds a run of the window that read the values which the newest one of `states` has. *left: the
 * states that have the same values there; free() it. */
static bool find_end(struct explorer *e, const uint64_t *states, struct verdict *v, uint64_t **left)
{
	const uint64_t moment = moment_of(e);
	struct window_hit hit = { 0 };
	const bool is_found = moment && window_find(e->window, moment, &e->set, states, &hit);

	if (is_found) {
		*v = hit.verdict;
		if (v->kind == VERDICT_OK || v->kind == VERDICT_DUMP)
			verdict_judge_dump(v, e->recovery, &e->allowed);
		*left = hit.left;
		hit.left = NULL;
	}
	window_hit_release(&hit);
	return is_found;
}

/* Gives the set of the state and all states that lose more. A lazy run on this set has the state in
 * memory, and tells which of the others it would treat the same. */
static uint64_t *up_to(const struct explorer *e, const uint64_t *state)
{
	uint64_t *states = states_copy(&e->set, state);

	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];
		const uint32_t newest = states_newest_left(l, state);

		for (uint32_t c = 0; c < newest; c++)
			bit_put(states + l->set, c, true);
	}
	return states;
}

/* Runs recovery on the newest of the states, to explain a failure. *left: the states for which the
 * run stands; free() it. 0: the run did not tell what it read. */
static int run_widely(struct explorer *e, const uint64_t *states, struct verdict *v,
		      uint64_t **left, struct error *err)
{
	const uint64_t moment = moment_of(e);
	int result;

	if (find_end(e, states, v, left)) {
		e->is_shared = true;
		return 1;
	}
	__atomic_fetch_add(&e->counters->diagnosis_runs, 1, __ATOMIC_RELAXED);
	result = moment ? run_watched(e, moment, states, v, err) : run_alone(e, states, v, err);
	if (result < 0)
		return -1;
	e->seen_runs.is_blind = v->why_unsound || reads_unasked(e);
	if (e->seen_runs.is_blind)
		return 0;
	*left = states_copy(&e->set, runner_left(e->runner));
	return 1;
}

void explorer_count_asked(struct explorer *e)
{
	e->nasked++;
	__atomic_fetch_add(&e->counters->explaining, 1, __ATOMIC_RELAXED);
}

int explorer_end_of(struct explorer *e, const uint64_t *state, bool is_late, struct verdict *v,
		    struct error *err)
{
	uint64_t *states, *left = NULL;
	int result = 0;

	if (seen_find(&e->seen_runs, &e->set, state, e->is_brief, v))
		return 1;
	if (is_late)
		return 0;
	if (!e->strategy->is_whole && !e->seen_runs.is_blind) {
		states = up_to(e, state);
		result = run_widely(e, states, v, &left, err);
		free(states);
	}
	if (result == 0)
		result = explorer_try(e, state, v, err) < 0 ? -1 : 1;
	if (result > 0) {
		explorer_count_asked(e);
		seen_add(&e->seen_runs, &e->set, left ? left : state, v,
			 e->is_shared ? 0 : verdict_printed(v));
	}
	free(left);
	return result < 0 ? -1 : 2;
}

/* Counts the states for which a run stands. */
static void count_states(struct explorer *e, const uint64_t *left)
{
	struct big n = { 0 };

	states_count_left(&e->set, left, &e->nstates, &n);
	big_add(&e->seen, &n);
	big_release(&n);
}

/* Gives the state that the run had in memory: of the contents left, the newest of each line. */
uint64_t *explorer_state(const struct explorer *e, const uint64_t *left)
{
	uint64_t *state = states_copy(&e->set, left);

	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];

		states_only(l, state, states_newest_left(l, left));
	}
	return state;
}

uint64_t *explorer_oldest(const struct explorer *e, const uint64_t *left)
{
	uint64_t *state = states_copy(&e->set, left);

	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];
		uint32_t oldest = 0;

		while (!bit_get(left + l->set, oldest))
			oldest++;
		states_only(l, state, oldest);
	}
	return state;
}

static int judge(struct explorer *e, const uint64_t *left, const struct verdict *v,
		 struct error *err)
{
	if (v->kind == VERDICT_OK)
		return 0;
	__atomic_fetch_add(&e->counters->failures, 1, __ATOMIC_RELAXED);
	explorer_load(e); /* the caller looked at this state with other states loaded in between */
	return e->on_failure(e, left, v, e->arg, err);
}

static void note_run_reads(struct explorer *e, const struct verdict *v)
{
	const struct run_decision *d;
	const size_t n = explorer_decisions(e, &d);

	run_reads_note(&e->reads, e->walk, &e->set, d, n, v);
	if (!e->is_shared)
		run_reads_note_cuts(&e->reads, e->walk, e->runner);
}

int explorer_conclude(struct explorer *e, const uint64_t *before, const uint64_t *left,
		      const struct verdict *v, struct error *err)
{
	int result;

	e->nruns++;
	e->nshared += e->is_shared;
	__atomic_fetch_add(e->is_diagnosis ? &e->counters->diagnosis_runs
			   : e->is_shared  ? &e->counters->shared_runs
					   : &e->counters->runs,
			   1, __ATOMIC_RELAXED);
	if (e->on_run)
		e->on_run(e, before, left, v, e->arg);
	if (e->is_diagnosis)
		return 0;
	if (e->nruns == 1)
		e->first_end = v->kind == VERDICT_OK ? 0 : verdict_outcome(v);
	note_run_reads(e, v);
	seen_add(&e->seen_runs, &e->set, left, v, e->is_shared ? 0 : verdict_printed(v));
	result = judge(e, left, v, err);
	if (result == 0)
		count_states(e, left);
	return result < 0 ? -1 : 0;
}

bool explorer_widen(struct explorer *e)
{
	const struct run_decision *d;
	size_t n = explorer_decisions(e, &d);

	for (size_t i = 0; i < n && !e->is_diagnosis; i++) {
		const struct state_line *l = &e->set.lines.at[d[i].line];

		if (!unasked(l, &d[i]))
			continue;
		states_ask(&e->asked, l->addr, unasked(l, &d[i]) | l->asked);
		e->is_widened = true;
	}
	return e->is_widened;
}
