/* Explores a failure point in one visit or in several. The remaining work is kept, and the next
 * visit continues with it, whatever was visited in between. The lines of the failure point and
 * their contents are collected again at each visit; they are the same each time. */
#include <stdlib.h>

#include "crash/search/explorer_internal.h"

/* What the explorer keeps of a failure point between visits. */
struct point_rest {
	struct agenda todo;
	struct states_asked asked;
	struct known_losses losses;
	struct seen seen_runs;
	struct big seen, nstates;
	uint64_t nruns, nshared, nrepeats, repeats_cost, nasked, random;
	bool is_begun, is_cut, is_new, has_left_repeats;
};

bool point_rest_has_unknown(const struct point_rest *r)
{
	return r->todo.sets.n > 0;
}

bool point_rest_is_new(const struct point_rest *r)
{
	return r->is_new;
}

size_t point_rest_size(const struct point_rest *r)
{
	return r->todo.sets.n + r->todo.known.n + r->todo.slow.n;
}

size_t point_rest_slow(const struct point_rest *r)
{
	return r->todo.slow.n;
}

void point_rest_free(struct point_rest *r, struct explorer *e)
{
	big_add(&e->states_seen, &r->seen);
	big_add(&e->states_all, &r->nstates);
	agenda_release(&r->todo);
	states_asked_release(&r->asked);
	known_losses_release(&r->losses);
	seen_release(&r->seen_runs);
	big_release(&r->seen);
	big_release(&r->nstates);
	free(r);
}

/* ---- between visits ---- */

/* Puts the kept values back into the explorer. */
static void take_up(struct explorer *e, struct point_rest *r)
{
	states_asked_release(&e->asked);
	known_losses_release(&e->losses);
	seen_release(&e->seen_runs);
	e->asked = r->asked;
	e->losses = r->losses;
	e->seen_runs = r->seen_runs;
	big_copy(&e->seen, &r->seen);
	e->nruns = r->nruns;
	e->nshared = r->nshared;
	e->nrepeats = r->nrepeats;
	e->repeats_cost = r->repeats_cost;
	e->nasked = r->nasked;
	e->random = r->random;
	e->is_cut = r->is_cut;
	e->has_left_repeats = r->has_left_repeats;
	e->todo = &r->todo;
	e->is_new = false;
	r->asked = (struct states_asked){ 0 };
	r->losses = (struct known_losses){ 0 };
	r->seen_runs = (struct seen){ 0 };
}

/* Moves the values out of the explorer. The bytes that were asked for stay, because the failure
 * point may be examined further. */
static void leave(struct explorer *e, struct point_rest *r)
{
	big_copy(&r->seen, &e->seen);
	big_copy(&r->nstates, &e->nstates);
	r->nruns = e->nruns;
	r->nshared = e->nshared;
	r->nrepeats = e->nrepeats;
	r->repeats_cost = e->repeats_cost;
	r->nasked = e->nasked;
	r->random = e->random;
	r->is_cut = e->is_cut;
	r->has_left_repeats = e->has_left_repeats;
	r->is_new = e->is_new;
	e->todo = NULL;
}

void point_rest_put_away(struct point_rest *r, struct explorer *e)
{
	r->asked = e->asked;
	r->losses = e->losses;
	r->seen_runs = e->seen_runs;
	e->asked = (struct states_asked){ 0 };
	e->losses = (struct known_losses){ 0 };
	e->seen_runs = (struct seen){ 0 };
}

/* ---- a visit ---- */

static void release_tests(struct explorer *e)
{
	for (size_t i = 0; i < e->tests.n; i++)
		sparse_release(&e->tests.at[i].set);
	e->tests.n = 0;
}

void explorer_add_test(struct explorer *e, const uint64_t *seqs, size_t nseqs)
{
	*vec_add(&e->tests) = (struct explorer_test){ .seqs = seqs, .nseqs = nseqs };
}

void explorer_release(struct explorer *e)
{
	release_tests(e);
	vec_release(&e->tests);
	states_release(&e->set);
	states_asked_release(&e->asked);
	known_losses_release(&e->losses);
	seen_release(&e->seen_runs);
	deaths_release(&e->deaths);
	vec_release(&e->taken);
	surroundings_release(&e->around);
	allowed_release(&e->allowed);
	map_release(&e->decisions);
	run_reads_release(&e->reads);
	big_release(&e->nstates);
	big_release(&e->seen);
	big_release(&e->states_seen);
	big_release(&e->states_all);
}

static bool is_stopped(const struct explorer *e)
{
	return __atomic_load_n(&e->counters->is_stopped, __ATOMIC_RELAXED);
}

static int begin(struct explorer *e, struct error *err)
{
	agenda_release(e->todo);
	e->losses.list.n = 0;
	seen_clear(&e->seen_runs);
	big_set(&e->seen, 0);
	e->nruns = e->nshared = e->nrepeats = e->repeats_cost = e->nasked = 0;
	/* depends only on the failure point, not on the worker or on what it did before */
	e->random = e->limits.seed + e->walk->point * 0x2545f4914f6cdd1du;
	e->is_cut = e->set.is_partial;
	e->has_left_repeats = false;
	return e->strategy->begin(e, e->todo, err);
}

/* Explores with the bytes that were asked for so far. is_again: an earlier visit began. */
static int explore_asked(struct explorer *e, bool is_again, struct error *err)
{
	uint64_t *all;
	int result = 0;

	states_collect(&e->set, e->walk->model, e->strategy->is_whole ? NULL : &e->asked);
	if (e->window)
		window_watch(e->window, &e->set, &e->walk->image);
	if (e->on_point)
		e->on_point(e, is_again, e->arg);
	all = states_all(&e->set);
	states_count(&e->set, all, &e->nstates);
	free(all);
	e->is_widened = e->is_loaded = false;
	if (!e->window)
		explorer_load(e);
	if (e->strategy->prepare)
		e->strategy->prepare(e);
	if (!is_again)
		result = begin(e, err);
	return result == 0 && !e->is_widened ? agenda_explore(e, e->todo, err) : result;
}

/* Counts the runs so far as diagnosis runs: they only showed which bytes must be asked for. */
static void discount(struct explorer *e)
{
	const uint64_t nmade = e->nruns - e->nshared;

	__atomic_fetch_sub(&e->counters->runs, nmade, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&e->counters->shared_runs, e->nshared, __ATOMIC_RELAXED);
	__atomic_fetch_add(&e->counters->diagnosis_runs, nmade + !e->is_shared, __ATOMIC_RELAXED);
}

/* Counts a visit; one that was stopped in the middle does not count. True: the failure point is
 * done. */
static bool account(struct explorer *e, struct point_rest *r)
{
	const bool is_done = point_rest_size(r) == 0;

	if (is_stopped(e))
		return false;
	if (!r->is_begun)
		__atomic_fetch_add(&e->counters->begun, 1, __ATOMIC_RELAXED);
	r->is_begun = true;
	if (is_done && e->is_cut)
		__atomic_fetch_add(&e->counters->cut_points, 1, __ATOMIC_RELAXED);
	if (is_done)
		__atomic_fetch_add(&e->counters->points, 1, __ATOMIC_RELAXED);
	return is_done;
}

/* Counts a failure point at which nothing is run. */
static int pass(struct explorer *e)
{
	release_tests(e);
	__atomic_fetch_add(&e->counters->poolless, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&e->counters->begun, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&e->counters->points, 1, __ATOMIC_RELAXED);
	return 0;
}

int explorer_visit(struct explorer *e, struct point_rest **rest, uint64_t runs, bool wants_known,
		   struct error *err)
{
	const bool is_again = *rest != NULL;
	int result;

	e->first_end = 0;
	if (walk_has_pool(e->walk))
		__atomic_store_n(&e->counters->had_file, 1, __ATOMIC_RELAXED);
	else if (e->limits.needs_pool)
		return pass(e);
	recovery_set_moment(e->recovery, e->runner, e->walk->plan, e->walk->seq);
	if (!is_again)
		*rest = xcalloc(1, sizeof **rest);
	take_up(e, *rest);
	e->pause_at = runs ? e->nruns + runs : 0;
	e->wants_known = wants_known;
	result = explore_asked(e, is_again, err);
	while (result == 0 && e->is_widened && !is_stopped(e)) {
		discount(e);
		e->pause_at = runs;
		result = explore_asked(e, false, err);
	}
	leave(e, *rest);
	release_tests(e);
	if (result == 0 && account(e, *rest)) {
		point_rest_free(*rest, e);
		*rest = NULL;
	}
	return result;
}

int explorer_point(struct explorer *e, struct error *err)
{
	struct point_rest *rest = NULL;
	int result;

	e->wants_slow = true;
	result = explorer_visit(e, &rest, 0, true, err);

	if (rest) /* the budget ended during the visit */
		point_rest_free(rest, e);
	return result;
}
