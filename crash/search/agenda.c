/* Lazy runs until nothing is left: a run begins with a set of states and narrows it by what it reads. Of the states it left aside, those that
 * took another turn at its first decision are one set, those that agree with the first and differ at the second another, and so on: these
 * sets are disjoint and cover everything, and each is a beginning of its own. No run needs to follow another's order of events.
 *
 * Hundreds of sets wait for each that is run, and most lines are never read: a set that waits is what was narrowed. */
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

/* ---- sets that wait ---- */

static uint64_t hash_word(size_t index, uint64_t word)
{
	uint64_t h = (word + index * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;

	return (h ^ h >> 32) * 0xc4ceb9fe1a85ec53u;
}

/* A sum over all words: it follows when a line changes. */
static uint64_t hash_line(const struct state_line *l, const uint64_t *left)
{
	uint64_t h = 0;

	for (uint32_t w = 0; w < l->words; w++)
		h += hash_word(l->set + w, left[w]);
	return h;
}

struct agenda_set agenda_begin(const struct explorer *e, const struct sparse_set *base)
{
	struct agenda_set set = { .base = base };
	uint64_t *bits;

	if (!base)
		return set;
	bits = agenda_expand(e, &set);
	for (size_t w = 0; w < e->set.nwords; w++)
		set.hash += hash_word(w, bits[w]);
	free(bits);
	return set;
}

uint64_t *agenda_expand(const struct explorer *e, const struct agenda_set *set)
{
	uint64_t *bits = states_all(&e->set);

	if (set->base)
		sparse_expand(set->base, &e->set, bits);
	narrowing_apply(&e->set, set->narrowed, bits);
	return bits;
}

static bool is_same(const struct explorer *e, const struct agenda_set *a, const struct agenda_set *b)
{
	uint64_t *x, *y;
	bool same;

	if (a->hash != b->hash)
		return false;
	x = agenda_expand(e, a);
	y = agenda_expand(e, b);
	same = memcmp(x, y, e->set.nwords * sizeof *x) == 0;
	free(x);
	free(y);
	return same;
}

static void agenda_add(const struct explorer *e, struct agenda *todo, const struct agenda_set *set)
{
	for (size_t i = 0; e->tests.n > 1 && i < todo->sets.n; i++)
		if (is_same(e, &todo->sets.at[i], set)) {
			narrowing_drop(set->narrowed); /* of two behaviours in the same lines */
			return;
		}
	*vec_add(&todo->sets) = *set;
}

/* ---- branching ---- */

/* Moves the contents that have the value of `like` in the bytes that were read from one set of a line to another. */
static void move_alike(const struct state_set *s, const struct state_line *l, const struct run_decision *d, uint32_t like,
		       uint64_t *from, uint64_t *to)
{
	for (uint32_t c = 0; c < l->ncontents; c++)
		if (bit_get(from, c) && same_value(s, l, d, like, c)) {
			bit_put(from, c, false);
			bit_put(to, c, true);
		}
}

/* The set with only the contents of a line that have this value, which are taken out of the rest. */
static struct agenda_set narrow(const struct explorer *e, const struct agenda_set *set, const uint64_t *left, const struct run_decision *d,
				uint32_t like, uint64_t *rest)
{
	const struct state_line *l = &e->set.lines.at[d->line];
	struct agenda_set narrower = *set;

	narrower.narrowed = narrowing_new(&e->set, set->narrowed, d->line);
	move_alike(&e->set, l, d, like, rest, narrower.narrowed->left);
	narrower.hash += hash_line(l, narrower.narrowed->left) - hash_line(l, left + l->set);
	return narrower;
}

void agenda_branch(struct explorer *e, struct agenda *todo, struct agenda_set *set, uint64_t *left, const struct run_decision *d)
{
	const struct state_line *l = &e->set.lines.at[d->line];
	struct agenda_set taken;
	uint64_t *rest;
	uint32_t like;

	if (d->nvalues < 2)
		return;
	rest = xcalloc(l->words, sizeof *rest);
	memcpy(rest, left + l->set, l->words * sizeof *rest);
	taken = narrow(e, set, left, d, d->chosen, rest);
	while (todo && bits_newest(rest, l->words, &like)) {
		struct agenda_set other = narrow(e, set, left, d, like, rest);

		agenda_add(e, todo, &other);
	}
	memcpy(left + l->set, taken.narrowed->left, l->words * sizeof *left);
	narrowing_drop(set->narrowed);
	*set = taken;
	free(rest);
}

void agenda_check_left(const struct explorer *e, const uint64_t *left)
{
	if (memcmp(left, runner_left(e->runner), e->set.nwords * sizeof *left) != 0)
		BUG("the runtime and the explorer disagree about what is left");
}

/* After a run: what it left aside. Leaves in `left` what the run stands for. */
static void branch_all(struct explorer *e, struct agenda *todo, struct agenda_set *set, uint64_t *left)
{
	const struct run_decision *d;
	size_t n = runner_decisions(e->runner, &d), first = todo->sets.n;

	for (size_t i = 0; i < n; i++)
		agenda_branch(e, todo, set, left, &d[i]);
	/* What was read first is looked at first. */
	for (size_t i = first, j = todo->sets.n; i + 1 < j; i++) {
		struct agenda_set t = todo->sets.at[i];

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
static struct agenda_set agenda_take(struct explorer *e, struct agenda *todo)
{
	size_t i = todo->sets.n - 1;
	struct agenda_set set;

	if (e->limits.sample && e->nruns + todo->sets.n > e->limits.sample)
		i = next_random(&e->random) % todo->sets.n;
	set = todo->sets.at[i];
	todo->sets.at[i] = todo->sets.at[--todo->sets.n];
	return set;
}

static int explore_set(struct explorer *e, struct agenda *todo, struct agenda_set *set, struct error *err)
{
	uint64_t *before = agenda_expand(e, set), *left = states_copy(&e->set, before);
	struct verdict v;
	int result;

	if (explorer_run(e, before, true, &v, err) < 0) {
		result = -1;
	} else if (v.why_unsound) {
		result = whole_fall_back(e, before, v.why_unsound, err);
	} else if (explorer_widen(e)) {
		result = 0;
	} else {
		branch_all(e, todo, set, left);
		result = explorer_conclude(e, before, left, &v, err);
	}
	free(before);
	free(left);
	return result;
}

/* Until there is nothing left, or no time. */
int agenda_explore(struct explorer *e, struct agenda *todo, struct error *err)
{
	int result = 0;

	while (todo->sets.n > 0 && result == 0 && !e->is_widened) {
		struct agenda_set set;

		if (!explorer_may_run(e))
			break;
		if (e->limits.sample && e->nruns >= e->limits.sample) {
			e->is_cut = true;
			break;
		}
		set = agenda_take(e, todo);
		result = explore_set(e, todo, &set, err);
		narrowing_drop(set.narrowed);
	}
	return result;
}

void agenda_release(struct agenda *todo)
{
	while (todo->sets.n > 0)
		narrowing_drop(todo->sets.at[--todo->sets.n].narrowed);
	vec_release(&todo->sets);
}
