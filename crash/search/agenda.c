/* Lazy runs until nothing is left: a run begins with a set of states and narrows it by what it reads. Of the states it left aside, those that
 * took another turn at its first decision are one set, those that agree with the first and differ at the second another, and so on: these
 * sets are disjoint and cover everything, and each is a beginning of its own. No run needs to follow another's order of events. */
#include <string.h>

#include "crash/search/explorer_internal.h"

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
void agenda_branch(struct explorer *e, struct agenda *todo, uint64_t *left, const struct run_decision *d)
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

void agenda_check_left(const struct explorer *e, const uint64_t *left)
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
		agenda_branch(e, todo, left, &d[i]);
	/* What was read first is looked at first. */
	for (size_t i = first, j = todo->sets.n; i + 1 < j; i++) {
		uint64_t *t = todo->sets.at[i];

		todo->sets.at[i] = todo->sets.at[--j];
		todo->sets.at[j] = t;
	}
	agenda_check_left(e, left);
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

static int explore_set(struct explorer *e, struct agenda *todo, uint64_t *set, struct error *err)
{
	uint64_t *left = states_copy(&e->set, set);
	struct verdict v;
	int result;

	if (explorer_run(e, set, true, &v, err) < 0) {
		result = -1;
	} else if (v.why_unsound) {
		result = whole_fall_back(e, set, v.why_unsound, err);
	} else {
		branch_all(e, todo, left);
		explorer_count(e, left);
		if (e->on_run)
			e->on_run(e, set, left, &v, e->arg);
		result = explorer_judge(e, left, &v, err);
	}
	free(left);
	return result;
}

/* Until there is nothing left, or no time. */
int agenda_explore(struct explorer *e, struct agenda *todo, struct error *err)
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

void agenda_release(struct agenda *todo)
{
	while (todo->sets.n > 0)
		free(todo->sets.at[--todo->sets.n]);
	vec_release(&todo->sets);
}
