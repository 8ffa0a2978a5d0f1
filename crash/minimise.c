/* See minimise.h. Every step is one run on a whole image. */
#include "crash/minimise.h"

#include <string.h>

/* Contents to try between the newest and what a line has, before giving up on it. */
#define STEPS_MAX 12

static int fails(struct explorer *e, const uint64_t *state, const struct verdict *v, struct error *err)
{
	struct verdict now;

	if (explore_try(e, state, &now, err) < 0)
		return -1;
	return verdict_same(&now, v);
}

static bool is_lossy(const struct state_line *l, const uint64_t *state)
{
	return !bit_get(state + l->set, l->ncontents - 1);
}

/* Tries one content for the lines from..to (of those that lose something); keeps it if the failure stays. */
static int try_newest(struct explorer *e, uint64_t *state, const size_t *lossy, size_t from, size_t to, const struct verdict *v,
		      struct error *err)
{
	uint64_t *candidate = states_copy(&e->set, state);
	int stays;

	for (size_t i = from; i < to; i++)
		states_only(&e->set.lines.at[lossy[i]], candidate, e->set.lines.at[lossy[i]].ncontents - 1);
	stays = fails(e, candidate, v, err);
	if (stays > 0)
		memcpy(state, candidate, e->set.nwords * sizeof *state);
	free(candidate);
	return stays;
}

/* Halves: a block of lines whose loss does not matter goes at once. */
static int drop(struct explorer *e, uint64_t *state, const size_t *lossy, size_t from, size_t to, const struct verdict *v,
		struct error *err)
{
	size_t middle = from + (to - from) / 2;
	int stays = try_newest(e, state, lossy, from, to, v, err);

	if (stays != 0 || to - from <= 1)
		return stays < 0 ? -1 : 0;
	if (drop(e, state, lossy, from, middle, v, err) < 0)
		return -1;
	return drop(e, state, lossy, middle, to, v, err);
}

/* A line that must lose something: as little as possible. */
static int lose_less(struct explorer *e, uint64_t *state, const struct state_line *l, const struct verdict *v, struct error *err)
{
	uint32_t has = states_newest_left(l, state), steps = 0;
	int stays = 0;

	for (uint32_t c = l->ncontents - 1; c-- > has + 1 && steps < STEPS_MAX && stays == 0; steps++) {
		uint64_t *candidate = states_copy(&e->set, state);

		states_only(l, candidate, c);
		stays = fails(e, candidate, v, err);
		if (stays > 0)
			memcpy(state, candidate, e->set.nwords * sizeof *state);
		free(candidate);
	}
	return stays < 0 ? -1 : 0;
}

enum minimise_end minimise(struct explorer *e, uint64_t *state, const struct verdict *v, struct error *err)
{
	VEC(size_t) lossy = { 0 };
	int result = fails(e, state, v, err);

	if (result <= 0)
		return result < 0 ? MINIMISE_ERROR : MINIMISE_UNSTABLE;
	result = 0;
	for (size_t i = 0; i < e->set.lines.n; i++)
		if (is_lossy(&e->set.lines.at[i], state))
			*vec_add(&lossy) = i;
	if (lossy.n > 0)
		result = drop(e, state, lossy.at, 0, lossy.n, v, err);
	for (size_t i = 0; i < lossy.n && result == 0; i++)
		if (is_lossy(&e->set.lines.at[lossy.at[i]], state))
			result = lose_less(e, state, &e->set.lines.at[lossy.at[i]], v, err);
	vec_release(&lossy);
	return result < 0 ? MINIMISE_ERROR : MINIMISE_DONE;
}

enum minimise_end minimise_survivors(struct explorer *e, uint64_t *state, const struct verdict *v, struct error *err)
{
	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];
		uint64_t *candidate;
		int stays;

		if (l->ncontents < 2 || is_lossy(l, state))
			continue;
		candidate = states_copy(&e->set, state);
		states_only(l, candidate, 0);
		stays = fails(e, candidate, v, err);
		if (stays > 0)
			memcpy(state, candidate, e->set.nwords * sizeof *state);
		free(candidate);
		if (stays < 0)
			return MINIMISE_ERROR;
	}
	return MINIMISE_DONE;
}
