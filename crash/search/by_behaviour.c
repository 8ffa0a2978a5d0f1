/* The strategy `representative`: tries only the states of the behaviours that are to be tested at
 * this failure point. They share the first run, and each continues from there. */
#include <stdlib.h>

#include "crash/search/explorer_internal.h"
#include "crash/search/strategies.h"
#include "crash/states/states_of_stores.h"

/* Fills the sets of all behaviours to test. */
static void set_tests(struct explorer *e)
{
	for (size_t i = 0; i < e->tests.n; i++) {
		struct explorer_test *t = &e->tests.at[i];
		uint64_t *set;

		set = states_of_stores(&e->set, e->walk->model, t->seqs, t->nseqs);
		sparse_take(&t->set, &e->set, set, SPARSE_NEWEST);
		free(set);
	}
}

/* Gives the smallest set that contains all of them; free() it. */
static uint64_t *all_tests(const struct explorer *e)
{
	uint64_t *all = states_newest(&e->set), *set = states_newest(&e->set);

	for (size_t i = 0; i < e->tests.n; i++) {
		sparse_expand(&e->tests.at[i].set, &e->set, set);
		for (size_t w = 0; w < e->set.nwords; w++)
			all[w] |= set[w];
	}
	free(set);
	return all;
}

/* Does the set of another behaviour to test have all states of behaviour i? */
static bool is_included(const struct explorer *e, size_t i)
{
	for (size_t k = 0; k < e->tests.n; k++)
		if (k != i && sparse_include(&e->tests.at[k].set, &e->set, &e->tests.at[i].set) &&
		    (k < i || !sparse_include(&e->tests.at[i].set, &e->set, &e->tests.at[k].set)))
			return true;
	return false;
}

/* Runs whole images if lazy runs do not work: the states of each behaviour, or without behaviours
 * the state in which nothing is lost. */
static int fall_back(struct explorer *e, struct agenda *todo, const uint64_t *all, const char *why,
		     struct error *err)
{
	struct agenda_set set = { 0 };

	if (e->tests.n == 0) {
		set.whole = whole_images_fall_back(e, all, why);
		whole_images_free(set.whole);
		return set.whole ? whole_images_run(e, all, err) : 0;
	}
	for (size_t i = e->tests.n; i-- > 0 && !e->is_widened;) {
		uint64_t *bits;

		if (is_included(e, i))
			continue;
		set = agenda_begin(e, i + 1);
		bits = agenda_expand(e, &set);
		set.whole = whole_images_fall_back(e, bits, why);
		if (set.whole)
			agenda_add(e, todo, &set);
		free(bits);
	}
	return 0;
}

/* Puts the sets on the agenda that the first run left aside for one behaviour. */
static void branch(struct explorer *e, struct agenda *todo, struct agenda_set set,
		   const struct run_decision *d, size_t n)
{
	uint64_t *left = agenda_expand(e, &set);

	for (size_t i = 0; i < n; i++)
		agenda_branch(e, todo, &set, left, &d[i]);
	narrowing_drop(set.narrowed);
	free(left);
}

/* Makes the first run, in which nothing is lost. It is the same for all behaviours, so the lines of
 * all of them are undecided in it. Then each behaviour continues with its own lines. */
static int explore_first(struct explorer *e, struct agenda *todo, uint64_t *all, struct error *err)
{
	struct agenda_set first = { 0 };
	const struct run_decision *d;
	struct verdict v;
	size_t n;

	if (explorer_run(e, all, true, &v, err) < 0)
		return -1;
	if (v.why_unsound)
		return fall_back(e, todo, all, v.why_unsound, err);
	if (explorer_widen(e))
		return 0;
	agenda_note_decisions(e);
	n = runner_decisions(e->runner, &d);
	for (size_t i = 0; i < e->tests.n; i++) {
		if (!is_included(e, i))
			branch(e, todo, agenda_begin(e, i + 1), d, n);
	}
	for (size_t k = 0; k < n; k++)
		agenda_branch(e, NULL, &first, all, &d[k]);
	narrowing_drop(first.narrowed);
	agenda_check_left(e, all);
	return explorer_conclude(e, all, all, &v, err);
}

static int begin_representative(struct explorer *e, struct agenda *todo, struct error *err)
{
	uint64_t *all = all_tests(e);
	int result = 0;

	if (explorer_may_run(e))
		result = explore_first(e, todo, all, err);
	free(all);
	return result;
}

const struct strategy strategy_representative = {
	.name = "representative",
	.help = "one update behaviour for each group of similar ones",
	.is_representative = true,
	.prepare = set_tests,
	.begin = begin_representative
};
