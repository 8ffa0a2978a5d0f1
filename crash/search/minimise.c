/* Gives back to a failing state, line by line, what it lost, as long as recovery still fails in the same way. Every step is one run on a whole image. */
#include "crash/search/minimise.h"

#include <stdio.h>
#include <string.h>

#include "crash/search/blame.h"
#include "crash/states/states_of_stores.h"

/* Contents to try between the newest and what a line has, before giving up on it. */
#define STEPS_MAX 12

/* Does it fail again in the same way? */
static int fails_again(struct explorer *e, const uint64_t *state, const struct verdict *v, struct error *err)
{
	struct verdict now;

	if (explorer_try(e, state, &now, err) < 0)
		return -1;
	return !now.why_unsound && verdict_same(&now, v);
}

struct failure {
	struct explorer *e;
	const uint64_t *state;
	const struct verdict *v;
};

static enum blame_again failure_repeats(void *arg, struct error *err)
{
	const struct failure *f = arg;
	struct verdict now;

	if (explorer_try(f->e, f->state, &now, err) < 0)
		return AGAIN_ERROR;
	return now.why_unsound || now.kind == VERDICT_OK ? AGAIN_FINE : verdict_same(&now, f->v) ? AGAIN_SAME : AGAIN_OTHER;
}

/* Does it fail again, and is that the program's failure? */
static enum minimise_end confirm(struct explorer *e, const uint64_t *state, const struct verdict *v, struct error *err)
{
	struct failure f = { e, state, v };
	enum runner_limit which;
	char *text;

	if (verdict_is_slow(v) && e->limits.deadline_ns && clock_ns() >= e->limits.deadline_ns)
		return MINIMISE_LATE; /* it would take as long again */
	switch (blame_find(e->runner, v, false, failure_repeats, &f, &which, err)) {
	case BLAME_PROGRAM:
	case BLAME_EXCESS: /* where nothing is lost, it takes less */
		return MINIMISE_DONE;
	case BLAME_CHANCE:
		return MINIMISE_UNSTABLE;
	case BLAME_LIMIT:
		text = runner_limit_text(e->runner, which);
		snprintf(e->why_impossible, sizeof e->why_impossible, "%s", text);
		free(text);
		return MINIMISE_LIMITED;
	case BLAME_ERROR:
		break;
	}
	return MINIMISE_ERROR;
}

static bool is_interrupted(const struct explorer *e)
{
	return __atomic_load_n(&e->counters->is_interrupted, __ATOMIC_RELAXED);
}

/* The same of a smaller loss. With no time left it does not: what is known to fail stays as it is. */
static int fails(struct explorer *e, const uint64_t *state, const struct verdict *v, struct error *err)
{
	return is_interrupted(e) || explorer_is_late(e) ? 0 : fails_again(e, state, v, err);
}

static bool is_lossy(const struct state_line *l, const uint64_t *state)
{
	return !bit_get(state + l->set, l->ncontents - 1);
}

enum direction { TO_NEWEST, TO_OLDEST };

/* Tries the newest or the oldest content for the lines from..to of a list; keeps it if the failure stays. */
static int try_all(struct explorer *e, uint64_t *state, enum direction direction, const size_t *lines, size_t from, size_t to,
		   const struct verdict *v, struct error *err)
{
	uint64_t *candidate = states_copy(&e->set, state);
	int stays;

	for (size_t i = from; i < to; i++) {
		const struct state_line *l = &e->set.lines.at[lines[i]];

		states_only(l, candidate, direction == TO_NEWEST ? l->ncontents - 1 : 0);
	}
	stays = fails(e, candidate, v, err);
	if (stays > 0)
		memcpy(state, candidate, e->set.nwords * sizeof *state);
	free(candidate);
	return stays;
}

/* Halves: a block of lines that do not matter goes at once. */
static int move(struct explorer *e, uint64_t *state, enum direction direction, const size_t *lines, size_t from, size_t to,
		const struct verdict *v, struct error *err)
{
	size_t middle = from + (to - from) / 2;
	int stays = try_all(e, state, direction, lines, from, to, v, err);

	if (stays != 0 || to - from <= 1)
		return stays < 0 ? -1 : 0;
	if (move(e, state, direction, lines, from, middle, v, err) < 0)
		return -1;
	return move(e, state, direction, lines, middle, to, v, err);
}

enum which { OF_LESS, OF_SEQUENCE, OF_ALL };

/* Of less: nothing else is lost than in the state. Of sequence: what is lost is newer than all that is kept. */
static bool is_wanted(const struct explorer *e, const uint64_t *state, const struct state_line *l, uint32_t content, enum which which)
{
	switch (which) {
	case OF_LESS: return states_loses(&e->set, e->walk->model, l, states_newest_left(l, state), content, false);
	case OF_SEQUENCE: return model_is_in_sequence(e->walk->model, l->addr, state_content(&e->set, l, content));
	case OF_ALL: return true;
	}
	return false;
}

/* The first of some contents from `from` to before `to`, up or down, that fails, too, if there is one. */
static int try_contents(struct explorer *e, uint64_t *state, const struct state_line *l, int64_t from, int64_t to, enum which which,
			const struct verdict *v, struct error *err)
{
	const int64_t step = from < to ? 1 : -1;
	uint32_t steps = 0;
	int stays = 0;

	for (int64_t c = from; c != to && steps < STEPS_MAX && stays == 0; c += step) {
		uint64_t *candidate;

		if (!is_wanted(e, state, l, (uint32_t)c, which))
			continue;
		candidate = states_copy(&e->set, state);
		states_only(l, candidate, (uint32_t)c);
		stays = fails(e, candidate, v, err);
		if (stays > 0)
			memcpy(state, candidate, e->set.nwords * sizeof *state);
		free(candidate);
		steps++;
	}
	return stays;
}

/* A line that must lose something: as little as possible. */
static int lose_less(struct explorer *e, uint64_t *state, const struct state_line *l, const struct verdict *v, struct error *err)
{
	const uint32_t has = states_newest_left(l, state);

	return has + 2 < l->ncontents && try_contents(e, state, l, l->ncontents - 2, has, OF_LESS, v, err) < 0 ? -1 : 0;
}

enum minimise_end minimise(struct explorer *e, uint64_t *state, const struct verdict *v, struct error *err)
{
	VEC(size_t) lossy = { 0 };
	enum minimise_end end = is_interrupted(e) ? MINIMISE_DONE : confirm(e, state, v, err);
	int result = 0;

	if (is_interrupted(e) && end != MINIMISE_LIMITED)
		return MINIMISE_DONE;
	if (end != MINIMISE_DONE)
		return end;
	for (size_t i = 0; i < e->set.lines.n; i++)
		if (is_lossy(&e->set.lines.at[i], state))
			*vec_add(&lossy) = i;
	if (lossy.n > 0)
		result = move(e, state, TO_NEWEST, lossy.at, 0, lossy.n, v, err);
	for (size_t i = 0; i < lossy.n && result == 0; i++)
		if (is_lossy(&e->set.lines.at[lossy.at[i]], state))
			result = lose_less(e, state, &e->set.lines.at[lossy.at[i]], v, err);
	vec_release(&lossy);
	return result < 0 ? MINIMISE_ERROR : MINIMISE_DONE;
}

bool minimise_is_gap(const struct explorer *e, const struct state_line *l, const uint64_t *state)
{
	return is_lossy(l, state) && !model_is_in_sequence(e->walk->model, l->addr, state_content(&e->set, l, states_newest_left(l, state)));
}

enum minimise_end minimise_gaps(struct explorer *e, uint64_t *state, const struct verdict *v, bool *has_gaps, struct error *err)
{
	int result = 0;

	*has_gaps = false;
	for (size_t i = 0; model_is_partial_order(e->walk->model) && i < e->set.lines.n && result >= 0; i++) {
		const struct state_line *l = &e->set.lines.at[i];

		if (!minimise_is_gap(e, l, state))
			continue;
		result = try_contents(e, state, l, l->ncontents - 2, -1, OF_SEQUENCE, v, err);
		*has_gaps |= result == 0;
	}
	return result < 0 ? MINIMISE_ERROR : MINIMISE_DONE;
}

enum minimise_end minimise_survivors(struct explorer *e, uint64_t *state, const struct verdict *v, struct error *err)
{
	VEC(size_t) whole = { 0 };
	int result = 0;

	for (size_t i = 0; i < e->set.lines.n; i++)
		if (e->set.lines.at[i].ncontents > 1 && !is_lossy(&e->set.lines.at[i], state))
			*vec_add(&whole) = i;
	if (whole.n > 0)
		result = move(e, state, TO_OLDEST, whole.at, 0, whole.n, v, err);
	for (size_t i = 0; model_is_partial_order(e->walk->model) && i < e->set.lines.n && result >= 0; i++) {
		const struct state_line *l = &e->set.lines.at[i];

		if (minimise_is_gap(e, l, state))
			result = try_contents(e, state, l, 0, states_newest_left(l, state), OF_ALL, v, err);
	}
	vec_release(&whole);
	return result < 0 ? MINIMISE_ERROR : MINIMISE_DONE;
}
