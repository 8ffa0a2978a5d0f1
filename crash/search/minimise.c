/* Reduces the loss of a failing state line by line, as long as recovery still fails in the same
 * way. Each step costs at most one run. */
#include "crash/search/minimise.h"

#include <stdlib.h>
#include <string.h>

#include "crash/states/states_of_stores.h"

/* runs of one explanation, so that it ends however many lines matter */
#define EXPLAIN_RUNS 100u
/* contents of a line that are tried between the newest and the present one */
#define STEPS_MAX 12

enum trial { TRIAL_ERROR = -1, TRIAL_CURED, TRIAL_SAME, TRIAL_OTHER };

void minimise_begin(struct explorer *e)
{
	e->asked_max = e->nasked + EXPLAIN_RUNS;
}

bool minimise_is_spent(const struct explorer *e)
{
	return e->nasked >= e->asked_max;
}

/* Does a state fail in the same way? With no time or no runs left, a state that was not run counts
 * as different, so the present state stays. */
static enum trial try_state(struct explorer *e, const uint64_t *state, const struct verdict *v,
			    struct error *err)
{
	struct verdict now;
	const bool is_over =
		explorer_is_interrupted(e) || explorer_is_late(e) || minimise_is_spent(e);
	int is_known = explorer_end_of(e, state, is_over, &now, err);

	if (is_known < 0)
		return TRIAL_ERROR;
	if (is_known && !now.why_unsound && verdict_same(&now, v))
		return TRIAL_SAME;
	return is_known && !now.why_unsound && now.kind == VERDICT_OK ? TRIAL_CURED : TRIAL_OTHER;
}

static bool is_lossy(const struct state_line *l, const uint64_t *state)
{
	return !bit_get(state + l->set, l->ncontents - 1);
}

/* A failing state in two variants: lines that recovery did not read have their newest content in
 * one, and their oldest in the other. A line may change only if both variants still fail. Otherwise
 * one bug could be mistaken for another. With the newest contents, an unread store may publish
 * something else that is lost; with the oldest, something else is lost. */
struct twin {
	uint64_t *newest, *oldest;
};

static enum trial try_twin(struct explorer *e, const struct twin *t, const struct verdict *v,
			   struct error *err)
{
	const enum trial end = try_state(e, t->newest, v, err);

	return end == TRIAL_SAME ? try_state(e, t->oldest, v, err) : end;
}

static struct twin twin_copy(const struct explorer *e, const struct twin *t)
{
	return (struct twin){ states_copy(&e->set, t->newest), states_copy(&e->set, t->oldest) };
}

static void twin_set(const struct twin *t, const struct state_line *l, uint32_t content)
{
	states_only(l, t->newest, content);
	states_only(l, t->oldest, content);
}

static void twin_release(struct twin *t)
{
	free(t->newest);
	free(t->oldest);
}

/* Keeps the candidate if it fails in the same way, otherwise releases it. */
static enum trial try_candidate(struct explorer *e, struct twin *t, struct twin *candidate,
				const struct verdict *v, struct error *err)
{
	const enum trial end = try_twin(e, candidate, v, err);

	if (end == TRIAL_SAME) {
		memcpy(t->newest, candidate->newest, e->set.nwords * sizeof *t->newest);
		memcpy(t->oldest, candidate->oldest, e->set.nwords * sizeof *t->oldest);
	}
	twin_release(candidate);
	return end;
}

enum direction { TO_NEWEST, TO_OLDEST };

/* Gives the lines from..to of a list their newest or oldest contents, if recovery still fails. */
static enum trial try_all(struct explorer *e, struct twin *t, enum direction direction,
			  const size_t *lines, size_t from, size_t to, const struct verdict *v,
			  struct error *err)
{
	struct twin candidate = twin_copy(e, t);

	for (size_t i = from; i < to; i++) {
		const struct state_line *l = &e->set.lines.at[lines[i]];

		twin_set(&candidate, l, direction == TO_NEWEST ? l->ncontents - 1 : 0);
	}
	return try_candidate(e, t, &candidate, v, err);
}

enum which { OF_LESS, OF_SEQUENCE, OF_ALL };

/* May this content be tried? OF_LESS: it loses only stores that the state loses. OF_SEQUENCE: it
 * loses all stores that the state loses, and all lost stores are newer than all kept ones. */
static bool is_wanted(const struct explorer *e, const uint64_t *state, const struct state_line *l,
		      uint32_t content, enum which which)
{
	switch (which) {
	case OF_LESS:
		return states_loses(&e->set, e->walk->model, l, states_newest_left(l, state),
				    content, false);
	case OF_SEQUENCE:
		return model_is_in_sequence(e->walk->model, l->addr,
					    state_content(&e->set, l, content)) &&
		       states_loses(&e->set, e->walk->model, l, content,
				    states_newest_left(l, state), false);
	case OF_ALL: return true;
	}
	return false;
}

/* Tries contents from `from` to before `to`, upwards or downwards, and keeps the first that fails.
 * 0 if none does. */
static int try_contents(struct explorer *e, struct twin *t, const struct state_line *l,
			int64_t from, int64_t to, enum which which, const struct verdict *v,
			struct error *err)
{
	const int64_t step = from < to ? 1 : -1;
	enum trial end = TRIAL_OTHER;
	uint32_t steps = 0;

	for (int64_t c = from;
	     c != to && steps < STEPS_MAX && end != TRIAL_SAME && end != TRIAL_ERROR; c += step) {
		struct twin candidate;

		if (!is_wanted(e, t->newest, l, (uint32_t)c, which))
			continue;
		candidate = twin_copy(e, t);
		twin_set(&candidate, l, (uint32_t)c);
		end = try_candidate(e, t, &candidate, v, err);
		steps++;
	}
	return end == TRIAL_ERROR ? -1 : end == TRIAL_SAME;
}

/* Lets a line that must lose something lose as little as possible, and only stores that the run
 * certainly lost. */
static int lose_less(struct explorer *e, struct twin *t, const struct state_line *l,
		     const struct verdict *v, struct error *err)
{
	const uint32_t has = states_newest_left(l, t->newest);
	struct twin candidate = twin_copy(e, t);

	twin_set(&candidate, l, has);
	if (try_candidate(e, t, &candidate, v, err) == TRIAL_ERROR)
		return -1;
	return has + 2 < l->ncontents &&
			       try_contents(e, t, l, l->ncontents - 2, has, OF_LESS, v, err) < 0
		       ? -1
		       : 0;
}

/* Moves all lines that do not matter, by halving: a block of such lines takes one run. is_needed:
 * for each line of the set, whether recovery copes when the line moves; NULL: not wanted. */
static int move(struct explorer *e, struct twin *t, enum direction direction, const size_t *lines,
		size_t from, size_t to, bool *is_needed, const struct verdict *v, struct error *err)
{
	const size_t middle = from + (to - from) / 2;
	const enum trial end = try_all(e, t, direction, lines, from, to, v, err);

	if (end == TRIAL_ERROR || end == TRIAL_SAME)
		return end == TRIAL_ERROR ? -1 : 0;
	if (to - from <= 1) {
		if (is_needed)
			is_needed[lines[from]] = end == TRIAL_CURED;
		return direction == TO_NEWEST
			       ? lose_less(e, t, &e->set.lines.at[lines[from]], v, err)
			       : 0;
	}
	if (move(e, t, direction, lines, from, middle, is_needed, v, err) < 0)
		return -1;
	return move(e, t, direction, lines, middle, to, is_needed, v, err);
}

/* ---- losses ---- */

struct lossy_line {
	size_t line;
	uint64_t seq; /* the oldest store that the line loses */
};

static void note_age(const struct model_lost *s, void *arg)
{
	struct lossy_line *l = arg;

	if (s->seq < l->seq)
		l->seq = s->seq;
}

static int compare_lossy(const void *a, const void *b)
{
	const struct lossy_line *x = a, *y = b;

	return x->seq != y->seq ? (x->seq > y->seq) - (x->seq < y->seq)
				: (x->line > y->line) - (x->line < y->line);
}

/* Gives lines back their newest content if recovery still fails, the oldest loss first: a store
 * should come back before the store that published it. */
static int give_back(struct explorer *e, const uint64_t *left, struct twin *t, bool *is_needed,
		     const struct verdict *v, struct error *err)
{
	VEC(struct lossy_line) lossy = { 0 };
	VEC(size_t) lines = { 0 };
	int result = 0;

	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];
		struct lossy_line x = { i, UINT64_MAX };

		if (!is_lossy(l, left))
			continue;
		model_each_lost(e->walk->model, l->addr,
				state_content(&e->set, l, states_newest_left(l, t->oldest)),
				note_age, &x);
		*vec_add(&lossy) = x;
	}
	if (lossy.n > 0)
		qsort(lossy.at, lossy.n, sizeof *lossy.at, compare_lossy);
	for (size_t i = 0; i < lossy.n; i++)
		*vec_add(&lines) = lossy.at[i].line;
	if (lines.n > 0)
		result = move(e, t, TO_NEWEST, lines.at, 0, lines.n, is_needed, v, err);
	vec_release(&lossy);
	vec_release(&lines);
	return result;
}

bool minimise_is_gap(const struct explorer *e, const struct state_line *l, const uint64_t *state)
{
	return is_lossy(l, state) &&
	       !model_is_in_sequence(e->walk->model, l->addr,
				     state_content(&e->set, l, states_newest_left(l, state)));
}

/* Closes gaps, which exist only if a line's stores have no total order (arm64): a gap is a later
 * store that survives without an earlier one. The later store is lost, too, if recovery still
 * fails. A gap that stays is needed for the failure. */
static int close_gaps(struct explorer *e, struct twin *t, const struct verdict *v, bool *has_gaps,
		      struct error *err)
{
	int result = 0;

	for (size_t i = 0;
	     model_is_partial_order(e->walk->model) && i < e->set.lines.n && result >= 0; i++) {
		const struct state_line *l = &e->set.lines.at[i];

		if (!minimise_is_gap(e, l, t->newest))
			continue;
		result = try_contents(e, t, l, l->ncontents - 2, -1, OF_SEQUENCE, v, err);
		*has_gaps |= result == 0;
	}
	return result < 0 ? -1 : 0;
}

/* Fills m->cause: m->state without the losses that are not needed, if any loss is needed. */
static void find_cause(const struct explorer *e, const bool *is_needed, struct minimised *m)
{
	bool has_needed = false;

	m->cause = states_copy(&e->set, m->state);
	for (size_t i = 0; i < e->set.lines.n; i++)
		has_needed |= is_needed[i];
	for (size_t i = 0; i < e->set.lines.n && has_needed; i++)
		if (!is_needed[i])
			states_only(&e->set.lines.at[i], m->cause,
				    e->set.lines.at[i].ncontents - 1);
}

/* Fills m->few: a state that loses the same stores in the lines that lose something, and in which
 * everything else is as old as the run allows, if recovery still fails. Called before gaps are
 * closed, because closing loses more, and recovery might then fail because of another survivor. */
static int find_few(struct explorer *e, const uint64_t *left, const struct twin *t,
		    struct minimised *m, const struct verdict *v, struct error *err)
{
	enum trial end;

	m->few = explorer_oldest(e, left);
	for (size_t i = 0; i < e->set.lines.n; i++)
		if (is_lossy(&e->set.lines.at[i], t->newest))
			states_only(&e->set.lines.at[i], m->few,
				    states_newest_left(&e->set.lines.at[i], t->newest));
	end = try_state(e, m->few, v, err);
	if (end != TRIAL_SAME)
		memcpy(m->few, t->oldest, e->set.nwords * sizeof *m->few);
	return end == TRIAL_ERROR ? -1 : 0;
}

void minimised_release(struct minimised *m)
{
	free(m->state);
	free(m->few);
	free(m->cause);
}

enum minimise_end minimise(struct explorer *e, const uint64_t *left, struct minimised *m,
			   const struct verdict *v, struct error *err)
{
	bool *is_needed = xcalloc(e->set.lines.n + 1, sizeof *is_needed);
	struct twin t = { explorer_state(e, left), explorer_oldest(e, left) };
	enum minimise_end end = MINIMISE_DONE;

	*m = (struct minimised){ 0 };
	if (give_back(e, left, &t, is_needed, v, err) < 0 || find_few(e, left, &t, m, v, err) < 0 ||
	    close_gaps(e, &t, v, &m->has_gaps, err) < 0)
		end = MINIMISE_ERROR;
	m->state = states_copy(&e->set, t.newest);
	if (end == MINIMISE_DONE)
		find_cause(e, is_needed, m);
	twin_release(&t);
	free(is_needed);
	return end;
}

enum minimise_end minimise_survivors(struct explorer *e, uint64_t *state, const struct verdict *v,
				     struct error *err)
{
	const struct twin both = { state, state };
	struct twin t = twin_copy(e, &both);
	VEC(size_t) whole = { 0 };
	int result = 0;

	for (size_t i = 0; i < e->set.lines.n; i++)
		if (e->set.lines.at[i].ncontents > 1 && !is_lossy(&e->set.lines.at[i], state))
			*vec_add(&whole) = i;
	if (whole.n > 0)
		result = move(e, &t, TO_OLDEST, whole.at, 0, whole.n, NULL, v, err);
	for (size_t i = 0;
	     model_is_partial_order(e->walk->model) && i < e->set.lines.n && result >= 0; i++) {
		const struct state_line *l = &e->set.lines.at[i];

		if (minimise_is_gap(e, l, t.newest))
			result = try_contents(e, &t, l, 0, states_newest_left(l, t.newest), OF_ALL,
					      v, err);
	}
	memcpy(state, t.newest, e->set.nwords * sizeof *state);
	twin_release(&t);
	vec_release(&whole);
	return result < 0 ? MINIMISE_ERROR : MINIMISE_DONE;
}
