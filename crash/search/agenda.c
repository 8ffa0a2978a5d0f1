/* Makes lazy runs until no set of states is left. A run starts with a set of states and narrows it
 * by what it reads. The states that the run did not cover form new, disjoint sets, and a later run
 * can start with each of them. No run needs to repeat another's order of events. Example: a run
 * starts with all states of lines A {0 1} and B {0 1 2}, reads A = 1 and then B = 2. It covered A
 * {1} B {2}, and leaves two sets: A {0} B {0 1 2}, which differs at the first decision, and A {1} B
 * {0 1}, which differs at the second.
 *
 * Hundreds of sets wait for each one that is run, and most lines are never read. So a waiting set
 * is stored as what was narrowed. Sets that can only repeat a known failure of this point wait
 * behind all others. Which set comes next depends only on the failure point, not on how its runs
 * are divided into visits.
 *
 * Recovery that hangs is expensive: each run takes as long as its time limit. After one hang was
 * confirmed, a run first gets a short limit. If that ends it, nothing is known: the set waits
 * behind those that can only repeat a known failure, and is then run with the usual limit. */
#include <string.h>

#include "crash/search/explorer_internal.h"

/* runs per failure point on states that can only repeat a known bug; allowed even if there are few
 * other runs */
#define REPEATS_ALWAYS 32u
/* a run that hangs counts as so many of these */
#define HANG_COST 8u

static bool same_value(const struct state_set *s, const struct state_line *l,
		       const struct run_decision *d, uint32_t a, uint32_t b)
{
	const uint8_t *x = state_content(s, l, a) + d->at, *y = state_content(s, l, b) + d->at;

	for (uint64_t m = d->mask; m; m &= m - 1) {
		int i = __builtin_ctzll(m);

		if (x[i] != y[i])
			return false;
	}
	return true;
}

/* ---- waiting sets ---- */

static uint64_t hash_word(size_t index, uint64_t word)
{
	uint64_t h = (word + index * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;

	return (h ^ h >> 32) * 0xc4ceb9fe1a85ec53u;
}

/* Hashes a line's contents left. The hash of a set is the sum over its words, so it is easy to
 * update when a line changes. */
static uint64_t hash_line(const struct state_line *l, const uint64_t *left)
{
	uint64_t h = 0;

	for (uint32_t w = 0; w < l->words; w++)
		h += hash_word(l->set + w, left[w]);
	return h;
}

struct agenda_set agenda_begin(const struct explorer *e, size_t test)
{
	struct agenda_set set = { .test = test };
	uint64_t *bits;

	if (!test)
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

	if (set->test)
		sparse_expand(&e->tests.at[set->test - 1].set, &e->set, bits);
	narrowing_apply(&e->set, set->narrowed, bits);
	return bits;
}

static void set_release(struct agenda_set *set)
{
	narrowing_drop(set->narrowed);
	whole_images_free(set->whole);
}

static bool is_same(const struct explorer *e, const struct agenda_set *a,
		    const struct agenda_set *b)
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

static bool is_listed(const struct explorer *e, const struct agenda_set *list, size_t n,
		      const struct agenda_set *set)
{
	for (size_t i = 0; i < n; i++)
		if (!list[i].whole && is_same(e, &list[i], set))
			return true;
	return false;
}

static bool is_known(const struct explorer *e, const struct agenda_set *set)
{
	return !set->whole &&
	       known_losses_cover(&e->losses, &e->set, e->walk->model, set->narrowed);
}

void agenda_add(const struct explorer *e, struct agenda *todo, const struct agenda_set *set)
{
	struct agenda_set taken = *set;

	if (e->tests.n > 1 && !set->whole &&
	    (is_listed(e, todo->sets.at, todo->sets.n, set) ||
	     is_listed(e, todo->known.at, todo->known.n, set) ||
	     is_listed(e, todo->slow.at, todo->slow.n, set)))
		set_release(&taken); /* the same set of states came from two behaviours */
	else if (is_known(e, set))
		*vec_add(&todo->known) = taken;
	else
		*vec_add(&todo->sets) = taken;
}

/* Notes a known failure, and moves the waiting sets that can only repeat it behind all others. */
void explorer_know(struct explorer *e, const uint64_t *state, uint32_t survived)
{
	struct agenda *todo = e->todo;
	size_t n = 0;

	if (!known_losses_add(&e->losses, &e->set, e->walk->model, state, survived) || !todo)
		return;
	for (size_t i = 0; i < todo->sets.n; i++)
		if (is_known(e, &todo->sets.at[i]))
			*vec_add(&todo->known) = todo->sets.at[i];
		else
			todo->sets.at[n++] = todo->sets.at[i];
	todo->sets.n = n;
}

/* ---- branching ---- */

/* Moves contents from one set of a line to another: those that have the same bytes as content
 * `like`, where recovery read. */
static void move_alike(const struct state_set *s, const struct state_line *l,
		       const struct run_decision *d, uint32_t like, uint64_t *from, uint64_t *to)
{
	for (uint32_t c = 0; c < l->ncontents; c++)
		if (bit_get(from, c) && same_value(s, l, d, like, c)) {
			bit_put(from, c, false);
			bit_put(to, c, true);
		}
}

/* Makes the set that has only the contents of a line with the value of `like`; removes these
 * contents from `rest`. */
static struct agenda_set narrow(const struct explorer *e, const struct agenda_set *set,
				const uint64_t *left, const struct run_decision *d, uint32_t like,
				uint64_t *rest)
{
	const struct state_line *l = &e->set.lines.at[d->line];
	struct agenda_set narrower = *set;

	narrower.narrowed = narrowing_new(&e->set, set->narrowed, d->line);
	move_alike(&e->set, l, d, like, rest, narrower.narrowed->left);
	narrower.hash += hash_line(l, narrower.narrowed->left) - hash_line(l, left + l->set);
	return narrower;
}

void agenda_branch(struct explorer *e, struct agenda *todo, struct agenda_set *set, uint64_t *left,
		   const struct run_decision *d)
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
	if (!e->is_shared &&
	    memcmp(left, runner_left(e->runner), e->set.nwords * sizeof *left) != 0)
		BUG("the runtime and the explorer disagree about what is left");
}

/* Reverses a part of the list, so that the earliest decision of a run comes first. */
static void reverse(struct agenda_set *list, size_t from, size_t to)
{
	for (; from + 1 < to; from++) {
		struct agenda_set t = list[from];

		list[from] = list[--to];
		list[to] = t;
	}
}

/* Puts the sets that a run did not cover on the agenda. Leaves in `left` the states that the run
 * stands for. */
static void branch_all(struct explorer *e, struct agenda *todo, struct agenda_set *set,
		       uint64_t *left)
{
	const struct run_decision *d;
	size_t n = explorer_decisions(e, &d), first = todo->sets.n, first_known = todo->known.n;

	for (size_t i = 0; i < n; i++)
		agenda_branch(e, todo, set, left, &d[i]);
	reverse(todo->sets.at, first, todo->sets.n);
	reverse(todo->known.at, first_known, todo->known.n);
	agenda_check_left(e, left);
}

/* ---- reads that are new ---- */

static void note_site(const struct model_store *s, void *arg)
{
	uint32_t *site = arg;

	*site = s->site ? s->site->id : 0; /* store by store; the last one counts */
}

void agenda_note_decisions(struct explorer *e)
{
	static const char is_seen;
	const struct run_decision *d;
	size_t n = explorer_decisions(e, &d);

	for (size_t i = 0; i < n && !e->is_diagnosis; i++) {
		uint32_t site = 0;
		uint64_t key;

		if (d[i].nvalues < 2)
			continue;
		model_each(e->walk->model, e->set.lines.at[d[i].line].addr + d[i].at,
			   64 - (uint64_t)__builtin_clzll(d[i].mask), note_site, &site);
		key = hash_word(site, d[i].nframes > 0 ? d[i].stack[0] : 0);
		if (map_get(&e->decisions, key))
			continue;
		map_set(&e->decisions, key, (void *)&is_seen);
		e->is_new = true;
	}
}

/* ---- taking sets one after the other ---- */

static uint64_t next_random(uint64_t *seed)
{
	uint64_t x = *seed += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static struct agenda_set take_slow(const struct explorer *e, struct agenda *todo)
{
	struct agenda_set set = todo->slow.at[0];

	set.is_repeat = is_known(e, &set);
	memmove(todo->slow.at, todo->slow.at + 1, --todo->slow.n * sizeof *todo->slow.at);
	return set;
}

/* Takes the next set: the one that the last run's first decision excluded, or a random one if
 * --sample does not allow to run all. A set whose states are run one by one is finished first. The
 * second run of a failure point takes a set that depends on the point's number, because
 * neighbouring failure points are often alike and would all try the same. */
static struct agenda_set agenda_take(struct explorer *e, struct agenda *todo)
{
	struct agenda_set *list = todo->sets.n > 0 ? todo->sets.at : todo->known.at, set;
	size_t *n = todo->sets.n > 0 ? &todo->sets.n : &todo->known.n, i = *n - 1;

	if (*n == 0)
		return take_slow(e, todo);
	if (!list[i].whole && e->limits.sample &&
	    e->nruns + todo->sets.n + todo->known.n + todo->slow.n > e->limits.sample)
		i = next_random(&e->random) % *n;
	else if (!list[i].whole && e->nruns == 1)
		i = hash_word(0, e->walk->point) % *n;
	set = list[i];
	set.is_repeat = list == todo->known.at;
	list[i] = list[--*n];
	return set;
}

static void fall_back(struct explorer *e, struct agenda *todo, struct agenda_set *set,
		      const uint64_t *states, const char *why)
{
	set->whole = whole_images_fall_back(e, states, why);
	if (set->whole)
		*vec_add(&todo->sets) = *set;
	else
		set_release(set);
}

/* Puts the set behind all others, because the short limit ended its run and the run shows
 * nothing. */
static void wait_slowly(struct explorer *e, struct agenda *todo, const struct agenda_set *set,
			const struct verdict *v)
{
	struct agenda_set waiting = *set;

	waiting.is_slow = true;
	*vec_add(&todo->slow) = waiting;
	if (e->nruns == 0)
		e->first_end = verdict_outcome(v);
	__atomic_fetch_add(&e->counters->diagnosis_runs, 1, __ATOMIC_RELAXED);
}

static void note_repeat(struct explorer *e, const struct agenda_set *set, const struct verdict *v)
{
	e->nrepeats += set->is_repeat;
	e->repeats_cost += !set->is_repeat ? 0 : v->kind == VERDICT_HANG ? HANG_COST : 1;
}

/* Runs the set lazily and branches. The set is released, or put back to be run on whole images, or
 * with the usual limit. */
static int explore_lazily(struct explorer *e, struct agenda *todo, struct agenda_set *set,
			  struct error *err)
{
	uint64_t *before = agenda_expand(e, set), *left = states_copy(&e->set, before);
	struct verdict v;
	int result;

	e->is_brief = !set->is_slow && explorer_may_be_brief(e);
	result = explorer_run_lazily(e, before, &v, err);
	e->is_brief = false;
	if (result == 0 && v.why_unsound) {
		fall_back(e, todo, set, before, v.why_unsound);
	} else if (result == 0 && e->was_brief && !explorer_widen(e)) {
		wait_slowly(e, todo, set, &v);
	} else {
		if (result == 0 && !explorer_widen(e)) {
			note_repeat(e, set, &v);
			agenda_note_decisions(e);
			branch_all(e, todo, set, left);
			result = explorer_conclude(e, before, left, &v, err);
		}
		set_release(set);
	}
	free(before);
	free(left);
	return result;
}

/* Runs states of the set as whole images. The set is released if all are done, otherwise put back
 * as the next. */
static int explore_whole(struct explorer *e, struct agenda *todo, struct agenda_set *set,
			 struct error *err)
{
	uint64_t *states = agenda_expand(e, set);
	bool is_over;
	int result = whole_images_go_on(e, set->whole, states, &is_over, err);

	if (is_over || result < 0)
		set_release(set);
	else
		*vec_add(&todo->sets) = *set;
	free(states);
	return result;
}

static bool is_for_later(const struct explorer *e, const struct agenda *todo)
{
	const bool has_known = todo->known.n > 0 && (e->wants_known || e->is_diagnosis);

	return explorer_is_paused(e) ||
	       (todo->sets.n == 0 && !has_known &&
		(todo->slow.n == 0 || todo->known.n > 0 || !e->wants_slow));
}

static bool has_repeats(const struct explorer *e, const struct agenda *todo)
{
	return todo->known.n > 0 || (todo->slow.n > 0 && is_known(e, &todo->slow.at[0]));
}

/* Are only sets next that can repeat a known bug, and did such sets have at least as many runs as
 * all others? Races are concluded from all states, so then all sets are run. */
static bool is_repeated_enough(const struct explorer *e, const struct agenda *todo)
{
	return todo->sets.n == 0 && has_repeats(e, todo) && !e->limits.wants_repeats &&
	       !e->wants_reads && !e->is_diagnosis && e->repeats_cost >= REPEATS_ALWAYS &&
	       e->repeats_cost >= e->nruns - e->nrepeats;
}

static void release_known(struct agenda *todo)
{
	while (todo->known.n > 0)
		set_release(&todo->known.at[--todo->known.n]);
}

static void leave_repeats(struct explorer *e, struct agenda *todo)
{
	const size_t nslow = todo->slow.n;
	uint64_t nleft = todo->known.n;

	release_known(todo);
	todo->slow.n = 0;
	for (size_t i = 0; i < nslow; i++)
		if (is_known(e, &todo->slow.at[i])) {
			set_release(&todo->slow.at[i]);
			nleft++;
		} else {
			todo->slow.at[todo->slow.n++] = todo->slow.at[i];
		}
	__atomic_fetch_add(&e->counters->repeats, nleft, __ATOMIC_RELAXED);
	__atomic_fetch_add(&e->counters->repeat_points, !e->is_cut && !e->has_left_repeats,
			   __ATOMIC_RELAXED);
	e->has_left_repeats = true;
}

int agenda_explore(struct explorer *e, struct agenda *todo, struct error *err)
{
	int result = 0;

	while (todo->sets.n + todo->known.n + todo->slow.n > 0 && result == 0 && !e->is_widened &&
	       explorer_may_run(e)) {
		struct agenda_set set;

		if (explorer_is_sampled(e)) {
			agenda_release(todo);
			break;
		}
		if (is_for_later(e, todo))
			break;
		if (is_repeated_enough(e, todo)) {
			leave_repeats(e, todo);
			continue;
		}
		set = agenda_take(e, todo);
		result = set.whole ? explore_whole(e, todo, &set, err)
				   : explore_lazily(e, todo, &set, err);
	}
	return result;
}

void agenda_release(struct agenda *todo)
{
	while (todo->sets.n > 0)
		set_release(&todo->sets.at[--todo->sets.n]);
	while (todo->slow.n > 0)
		set_release(&todo->slow.at[--todo->slow.n]);
	release_known(todo);
	vec_release(&todo->sets);
	vec_release(&todo->known);
	vec_release(&todo->slow);
}
