/* The strategy `representative`: only the states of the behaviours that are to be tested here. A first run serves them all, and each goes on from there. */
#include <stdlib.h>

#include "crash/search/explorer_internal.h"
#include "crash/search/strategies.h"
#include "crash/states/states_of_stores.h"

/* The sets of all behaviours to test, and, in `all`, the smallest set with them all. */
static void set_tests(struct explorer *e, uint64_t *all)
{
	for (size_t i = 0; i < e->tests.n; i++) {
		struct explorer_test *t = &e->tests.at[i];
		uint64_t *set;

		set = states_of_stores(&e->set, e->walk->model, t->seqs, t->nseqs);
		for (size_t w = 0; w < e->set.nwords; w++)
			all[w] |= set[w];
		sparse_take(&t->set, &e->set, set, SPARSE_NEWEST);
		free(set);
	}
}

/* Another one stands for all of its states. */
static bool is_included(const struct explorer *e, size_t i)
{
	for (size_t k = 0; k < e->tests.n; k++)
		if (k != i && sparse_include(&e->tests.at[k].set, &e->set, &e->tests.at[i].set) &&
		    (k < i || !sparse_include(&e->tests.at[i].set, &e->set, &e->tests.at[k].set)))
			return true;
	return false;
}

static int fall_back(struct explorer *e, const struct sparse_set *set, const char *why, struct error *err)
{
	uint64_t *bits = states_all(&e->set);
	int result;

	sparse_expand(set, &e->set, bits);
	result = whole_fall_back(e, bits, why, err);
	free(bits);
	return result;
}

/* What one behaviour leaves to do after the first run. */
static void branch(struct explorer *e, struct agenda *todo, struct agenda_set set, const struct run_decision *d, size_t n)
{
	uint64_t *left = agenda_expand(e, &set);

	for (size_t i = 0; i < n; i++)
		agenda_branch(e, todo, &set, left, &d[i]);
	narrowing_drop(set.narrowed);
	free(left);
}

/* The first run has nothing lost, and is the same for all behaviours: it is done with all of their lines undecided, and each goes on from there
 * with its own. */
static int explore_first(struct explorer *e, struct agenda *todo, uint64_t *all, struct error *err)
{
	struct agenda_set first = { 0 };
	const struct run_decision *d;
	struct verdict v;
	size_t n;

	if (explorer_run(e, all, true, &v, err) < 0)
		return -1;
	if (v.why_unsound) {
		for (size_t i = 0; i < e->tests.n; i++)
			if (!is_included(e, i) && fall_back(e, &e->tests.at[i].set, v.why_unsound, err) < 0)
				return -1;
		return e->tests.n > 0 ? 0 : whole_fall_back(e, all, v.why_unsound, err);
	}
	if (explorer_widen(e))
		return 0;
	n = runner_decisions(e->runner, &d);
	for (size_t i = 0; i < e->tests.n; i++) {
		if (!is_included(e, i))
			branch(e, todo, agenda_begin(e, &e->tests.at[i].set), d, n);
	}
	for (size_t k = 0; k < n; k++)
		agenda_branch(e, NULL, &first, all, &d[k]);
	narrowing_drop(first.narrowed);
	agenda_check_left(e, all);
	return explorer_conclude(e, all, all, &v, err);
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
		result = agenda_explore(e, &todo, err);
	agenda_release(&todo);
	free(all);
	return result;
}

const struct strategy strategy_representative = { .name = "representative",
						  .help = "one update behaviour on behalf of all that resemble it",
						  .is_representative = true,
						  .explore = explore_representative };
