/* Decides which known bug a failing state belongs to: the bug whose lost stores, when they return,
 * make recovery cope. A failure that no known bug explains is explained, which makes a new bug.
 *
 * A run that fails stands for many states, which differ in what recovery did not read. Only bugs
 * that were explained at this failure point count as known. So it does not matter which worker
 * explored what, and shards together find what one process finds. */
#include <stdlib.h>
#include <string.h>

#include "crash/findings/findings.h"
#include "crash/search/beside_trial.h"
#include "crash/search/state_text.h"
#include "crash/search/undo.h"
#include "crash/states/states_of_stores.h"
#include "crash/workers/internal.h"
#include "crash/workers/messages.h"
#include "util/hash.h"
#include "util/str.h"

/* bugs that are explained from one run, if the return of each one's loss is not enough */
#define BUGS_MAX 4u
#define EARLIER_MAX 8u /* older stores that return together with another one, and are tried alone */
/* Runs of a failure point to explain and attribute, if its exploration has not taken more; after
 * that, states are attributed without runs. */
#define RUNS_OF_POINT 100u
/* attribution runs at a failure point may exceed its exploration runs by this number; after that,
 * states are attributed without runs */
#define RUNS_MORE 16u

/* ---- known bugs ---- */

void known_begin_point(struct worker *w)
{
	for (size_t i = 0; i < w->known.n; i++) {
		struct known_bug *k = &w->known.at[i];

		if (k->here.point == w->explorer.walk->point)
			k->bug.count -= k->here.count;
		k->here = (struct known_here){ 0 };
	}
	w->attributions.list.n = w->attributions.nruns = 0;
}

void known_take_up(struct worker *w, struct pause *p)
{
	for (size_t i = 0; i < p->known.n; i++)
		w->known.at[p->known.at[i].bug].here = p->known.at[i].here;
	p->known.n = 0;
	vec_release(&w->attributions.list);
	w->attributions = p->attributions;
	p->attributions = (struct attributions){ 0 };
}

void known_put_away(struct worker *w, struct pause *p)
{
	for (size_t i = 0; i < w->known.n; i++) {
		struct known_bug *k = &w->known.at[i];

		if (k->here.point != p->point)
			continue;
		*vec_add(&p->known) = (struct known_paused){ i, k->here };
		k->here = (struct known_here){ 0 };
	}
	p->attributions = w->attributions;
	w->attributions = (struct attributions){ 0 };
}

void known_pause_release(struct pause *p)
{
	vec_release(&p->known);
	vec_release(&p->attributions.list);
}

void known_release(struct worker *w)
{
	for (size_t i = 0; i < w->known.n; i++)
		crash_bug_release(&w->known.at[i].bug);
	vec_release(&w->known);
	vec_release(&w->attributions.list);
}

/* Is bug a before bug b? The order is by what makes two bugs the same, so that it does not depend
 * on which of them this worker met first, or where. */
static bool is_before(const struct crash_bug *a, const struct crash_bug *b)
{
	const uint32_t x[] = { a->lost.n ? a->lost.at[0].site : 0, a->is_survivor_guessed,
			       bug_survivor(a), a->acknowledged.site,
			       a->lost.n + a->survived.n ? 0 : a->at_site };
	const uint32_t y[] = { b->lost.n ? b->lost.at[0].site : 0, b->is_survivor_guessed,
			       bug_survivor(b), b->acknowledged.site,
			       b->lost.n + b->survived.n ? 0 : b->at_site };

	for (size_t i = 0; i < sizeof x / sizeof *x; i++)
		if (x[i] != y[i])
			return x[i] < y[i];
	return strcmp(a->kind, b->kind) < 0;
}

static void send_bug(struct worker *w, size_t number)
{
	struct wire m = worker_message_begin(MESSAGE_BUG);

	wire_number(&m, number);
	bug_pass(&m, &w->known.at[number].bug);
	worker_message_send(w->fd, &m);
}

/* Joins a bug with an equal one that is known: keeps the earlier failure point, and the survivor
 * that is not guessed. */
static void remember_earlier(struct worker *w, size_t number, struct crash_bug *b)
{
	struct crash_bug *known = &w->known.at[number].bug, later = *b;

	if (bug_speaks_for(b, known)) {
		later = *known;
		*known = *b;
		known->count = later.count;
		known->runs = later.runs;
		if (known->last_point < later.last_point)
			known->last_point = later.last_point;
		bug_move_endings(&later, known);
		send_bug(w, number);
	}
	crash_bug_release(&later);
}

/* Adds a bug unless it is known. Takes b. Gives its number. */
static size_t remember(struct worker *w, struct crash_bug *b)
{
	for (size_t i = 0; i < w->known.n; i++)
		if (bug_same(&w->known.at[i].bug, b)) {
			remember_earlier(w, i, b);
			return i;
		}
	b->runs = __atomic_load_n(&w->explorer.counters->runs, __ATOMIC_RELAXED);
	*vec_add(&w->known) = (struct known_bug){ .bug = *b };
	send_bug(w, w->known.n - 1);
	__atomic_fetch_add(&w->explorer.counters->bugs, 1, __ATOMIC_RELAXED);
	w->known.at[w->known.n - 1].bug.count = 0;
	return w->known.n - 1;
}

/* ---- one failure ---- */

/* A run that failed. */
struct failure {
	const uint64_t *left; /* the states for which it stands */
	const struct verdict *v;
	struct read_places places;
	/* of these states, the one that the run had in memory, and the one that loses most */
	uint64_t *newest, *oldest;
	uint64_t key;
};

static uint64_t sum_of_places(const store_list *list)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < list->n; i++)
		sum += hash_mix(0x9e3779b97f4a7c15u, list->at[i].site);
	return sum;
}

static void failure_begin(const struct explorer *e, const uint64_t *left, const struct verdict *v,
			  struct failure *f)
{
	*f = (struct failure){ .left = left,
			       .v = v,
			       .newest = explorer_state(e, left),
			       .oldest = explorer_oldest(e, left) };
	read_places_find(e, left, &f->places);
	f->key = hash_mix(hash_mix(hash_mix(verdict_outcome(v), sum_of_places(&f->places.lost)), 1),
			  sum_of_places(&f->places.survived));
}

static void failure_end(struct failure *f)
{
	read_places_release(&f->places);
	free(f->newest);
	free(f->oldest);
}

static char *ending_of(const struct explorer *e, const struct verdict *v)
{
	const char *function =
		v->kind == VERDICT_SIGNAL && v->site ? deaths_name(&e->deaths, v->site) : NULL;
	char *text = verdict_text(v),
	     *longer = function ? xasprintf("%s, in %s()", text, function) : NULL;

	if (!longer)
		return text;
	free(text);
	return longer;
}

static void add_states(struct worker *w, size_t bug)
{
	struct known_bug *k = &w->known.at[bug];

	k->bug.count++;
	k->here.count++;
	if (k->bug.last_point < w->explorer.walk->point)
		k->bug.last_point = w->explorer.walk->point;
}

static void count(struct worker *w, const struct failure *f, size_t bug)
{
	crash_bug_ends(&w->known.at[bug].bug, ending_of(&w->explorer, f->v));
	add_states(w, bug);
	*vec_add(&w->attributions.list) = (struct attribution){ f->key, bug };
}

static void note_remembered(struct worker *w)
{
	__atomic_fetch_add(&w->explorer.counters->remembered, 1, __ATOMIC_RELAXED);
}

/* Counts a failure whose run read the same as an earlier one and ended the same way: it belongs to
 * the same bugs. */
static bool count_remembered(struct worker *w, const struct failure *f)
{
	bool is_known = false;

	for (size_t i = 0; i < w->attributions.list.n; i++) {
		const struct attribution *a = &w->attributions.list.at[i];

		if (a->key != f->key)
			continue;
		add_states(w, a->bug);
		is_known = true;
	}
	if (is_known)
		note_remembered(w);
	return is_known;
}

/* ---- which known bug it is ---- */

static bool is_here(const struct worker *w, const struct known_bug *k)
{
	return k->here.point == w->explorer.walk->point;
}

static bool ended_so(const struct known_bug *k, const struct verdict *v)
{
	const struct verdict known = { .kind = k->here.kind,
				       .code = k->here.code,
				       .site = k->here.site };

	return verdict_same(&known, v);
}

static bool has_place(const store_list *list, uint32_t site)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i].site == site)
			return true;
	return false;
}

/* Did the store survive that must survive for this bug? Recovery read it, or this crash could not
 * lose it. */
static bool has_survivor(const struct explorer *e, const struct failure *f,
			 const struct crash_bug *b)
{
	const uint32_t survivor = bug_survivor(b);

	return !survivor || has_place(&f->places.survived, survivor) ||
	       !state_loses_place(e, f->oldest, survivor);
}

/* Finds the bug that loses stores of this place; SIZE_MAX: none. */
static size_t bug_of_place(const struct worker *w, const struct failure *f, uint32_t place)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < w->known.n; i++) {
		const struct known_bug *k = &w->known.at[i];

		if (is_here(w, k) && k->here.has_place && k->here.place == place &&
		    (found == SIZE_MAX || is_before(&k->bug, &w->known.at[found].bug)) &&
		    has_survivor(&w->explorer, f, &k->bug))
			found = i;
	}
	return found;
}

/* Finds the bug with which recovery fails this way although nothing is lost; then no store can
 * return. */
static size_t bug_without_loss(const struct worker *w, const struct verdict *v)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < w->known.n; i++) {
		const struct known_bug *k = &w->known.at[i];

		if (is_here(w, k) && !k->here.has_place &&
		    (found == SIZE_MAX || is_before(&k->bug, &w->known.at[found].bug)) &&
		    ended_so(k, v))
			found = i;
	}
	return found;
}

static int recovers(struct worker *w, const uint64_t *state, struct error *err)
{
	struct explorer *e = &w->explorer;
	struct verdict v;
	int is_known = explorer_end_of(e, state, explorer_is_late(e), &v, err);

	w->attributions.nruns += is_known == 2;
	return is_known <= 0 ? is_known : !v.why_unsound && v.kind == VERDICT_OK;
}

/* Does recovery cope when all stores of some places return? Parts that it did not read may prevent
 * that: something else may be lost, or a store may survive that publishes what is lost. So it is
 * tried with their newest contents, then with the oldest. returned: as in undo_place(), for the
 * last place. */
static int recovers_with(struct worker *w, const struct failure *f, const uint32_t *places,
			 size_t n, store_list *returned, struct error *err)
{
	int result = 0;

	for (int is_oldest = 0; is_oldest < 2 && result == 0; is_oldest++) {
		uint64_t *state = states_copy(&w->explorer.set, is_oldest ? f->oldest : f->newest);

		for (size_t i = 0; i < n; i++)
			undo_place(&w->explorer, places[i], state, returned);
		result = recovers(w, state, err);
		free(state);
	}
	return result;
}

/* Does recovery cope when stores of a place return? 0: no. 1: yes. 2: yes, but one older store that
 * returns with them is enough. */
static int try_place(struct worker *w, const struct failure *f, uint32_t place, struct error *err)
{
	store_list returned = { 0 }, ignored = { 0 };
	int result = recovers_with(w, f, &place, 1, &returned, err), is_enough = 0;

	for (size_t i = 0; result > 0 && i < returned.n && i < EARLIER_MAX && is_enough == 0; i++)
		is_enough = recovers_with(w, f, &returned.at[i].site, 1, &ignored, err);
	vec_release(&returned);
	vec_release(&ignored);
	return is_enough < 0 ? -1 : is_enough > 0 ? 2 : result;
}

/* Lets the losses of known bugs return, the oldest first. 1: the failure was counted for one bug,
 * or for all of them. 0: it belongs to none; `rest` is then the state in which these losses have
 * returned, which still fails, or the failing state itself. */
static int attribute_by_runs(struct worker *w, const struct failure *f, uint64_t *rest,
			     struct error *err)
{
	store_list returned = { 0 };
	VEC(uint32_t) places = { 0 };
	VEC(size_t) bugs = { 0 };
	int result = 0;

	for (size_t i = 0; i < f->places.lost.n && result == 0; i++) {
		const uint32_t place = f->places.lost.at[i].site;
		const size_t bug = bug_of_place(w, f, place);

		if (bug == SIZE_MAX)
			continue;
		*vec_add(&bugs) = bug;
		*vec_add(&places) = place;
		result = try_place(w, f, place, err);
		if (result == 1)
			count(w, f, bug);
	}
	if (result == 0 && bugs.n > 1) {
		result = recovers_with(w, f, places.at, places.n, &returned, err);
		for (size_t i = 0; i < bugs.n && result > 0; i++)
			count(w, f, bugs.at[i]);
	}
	for (size_t i = 0; i < places.n && result == 0; i++)
		undo_place(&w->explorer, places.at[i], rest, &returned);
	vec_release(&bugs);
	vec_release(&places);
	vec_release(&returned);
	return result == 2 ? 0 : result;
}

/* Attributes without runs, when they are used up: by what is lost, what survived, and how recovery
 * ended. */
static int attribute_unseen(struct worker *w, const struct failure *f)
{
	for (size_t i = 0; i < f->places.lost.n; i++) {
		const size_t bug = bug_of_place(w, f, f->places.lost.at[i].site);

		if (bug == SIZE_MAX || !ended_so(&w->known.at[bug], f->v))
			continue;
		count(w, f, bug);
		note_remembered(w);
		return 1;
	}
	return 0;
}

static bool is_spent(const struct worker *w)
{
	const struct explorer *e = &w->explorer;

	return w->attributions.nruns > e->nruns + RUNS_MORE ||
	       (e->nasked >= RUNS_OF_POINT && e->nasked >= e->nruns);
}

/* Attributes a failure to known bugs; the result is that of attribute_by_runs(). is_first: nothing
 * was explained for this failure yet. */
static int attribute(struct worker *w, const struct failure *f, bool is_first, uint64_t *rest,
		     struct error *err)
{
	const size_t bug = bug_without_loss(w, f->v);

	memcpy(rest, f->newest, w->explorer.set.nwords * sizeof *rest);
	if (bug != SIZE_MAX) {
		count(w, f, bug);
		if (is_first)
			note_remembered(w);
		return 1;
	}
	if (explorer_is_late(&w->explorer) || is_spent(w))
		return attribute_unseen(w, f);
	return attribute_by_runs(w, f, rest, err);
}

/* ---- explaining ---- */

/* Reports the behaviours whose states failed. */
static void send_failed(struct worker *w, const uint64_t *left)
{
	struct explorer *e = &w->explorer;
	uint64_t *state = e->tests.n > 0 ? explorer_state(e, left) : NULL,
		 *set = e->tests.n > 0 ? states_all(&e->set) : NULL;

	for (size_t i = 0; i < e->tests.n; i++) {
		struct wire m;

		sparse_expand(&e->tests.at[i].set, &e->set, set);
		if (!states_include(&e->set, set, state))
			continue;
		m = worker_message_begin(MESSAGE_VARIANT_FAILED);
		wire_number(&m, w->reps->tests.at[w->stop->first + i]);
		worker_message_send(w->fd, &m);
	}
	free(state);
	free(set);
}

/* Counts a failure that is not the program's, as far as is known. 1: the run proves nothing. */
static int note_unexplained(struct crash_counters *c, enum minimise_end end)
{
	if (end == MINIMISE_UNSTABLE)
		__atomic_fetch_add(&c->unstable, 1, __ATOMIC_RELAXED);
	if (end == MINIMISE_LIMITED)
		__atomic_fetch_add(&c->impossible, 1, __ATOMIC_RELAXED);
	if (end == MINIMISE_LATE) {
		__atomic_fetch_add(&c->unconfirmed, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&c->is_late, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&c->is_stopped, 1, __ATOMIC_RELAXED);
	}
	return end != MINIMISE_UNSTABLE;
}

static char *copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

/* Makes a bug with the ending of the failure, which was described right after its run. */
static void describe_again(const struct crash_bug *told, struct crash_bug *b)
{
	*b = (struct crash_bug){ .point = told->point,
				 .last_point = told->last_point,
				 .seq = told->seq,
				 .at_site = told->at_site,
				 .count = told->count,
				 .part = told->part,
				 .signal = told->signal,
				 .printed = told->printed };
	b->outcome = copy_text(told->outcome);
	b->command = copy_text(told->command);
	b->output = copy_text(told->output);
	b->found = copy_text(told->found);
	for (size_t i = 0; i < told->stack.n; i++)
		*vec_add(&b->stack) = told->stack.at[i];
}

/* Was the same bug found before, and is the finding from then the one that the report shows? */
static bool is_told_before(const struct worker *w, const struct crash_bug *b)
{
	for (size_t i = 0; i < w->known.n; i++)
		if (bug_same(&w->known.at[i].bug, b))
			return !bug_speaks_for(b, &w->known.at[i].bug);
	return false;
}

/* Explains a failure. A hang gets only the short limit in the runs that explain and confirm it, if
 * that gives a bug which was found before. Otherwise they get the usual one. */
static enum minimise_end explain_hang(struct worker *w, const uint64_t *left,
				      const struct verdict *v, struct crash_bug *b,
				      struct crash_store *oldest, struct error *err)
{
	struct explorer *e = &w->explorer;
	struct crash_bug again;
	enum minimise_end end;

	if (v->kind != VERDICT_HANG || !explorer_may_be_brief(e))
		return explain(e, left, v, b, oldest, err);
	describe_again(b, &again);
	e->is_brief = true;
	end = explain(e, left, v, b, oldest, err);
	e->is_brief = false;
	if (end == MINIMISE_ERROR || end == MINIMISE_LATE ||
	    (end == MINIMISE_DONE && is_told_before(w, b))) {
		crash_bug_release(&again);
		return end;
	}
	crash_bug_release(b);
	*b = again;
	return explain(e, left, v, b, oldest, err);
}

/* Was this bug confirmed at an earlier failure point, where it ended the same way? The report shows
 * the earlier one, so this failure need not be repeated. The earliest failure point of a bug is
 * always confirmed, whichever worker visits it. */
static bool is_confirmed(const struct worker *w, const struct crash_bug *b)
{
	for (size_t i = 0; i < w->known.n; i++) {
		const struct crash_bug *known = &w->known.at[i].bug;

		if (bug_same(known, b))
			return known->point < b->point && !known->undecided_by &&
			       str_same(known->outcome, b->outcome) &&
			       str_same(known->command, b->command);
	}
	return false;
}

/* Repeats the failure, and tries the files beside the pool. */
static enum minimise_end confirm(struct worker *w, const uint64_t *left, const struct verdict *v,
				 struct crash_bug *b, struct error *err)
{
	struct explorer *e = &w->explorer;
	const enum minimise_end end = explain_confirm(e, left, v, b, err);
	uint64_t *smallest;
	int result = 0;

	if (end != MINIMISE_DONE)
		return end;
	smallest = state_parse(&e->set, b->state, err);
	if (smallest)
		result = beside_trial(e, &w->beside, smallest, b, err);
	free(smallest);
	return result < 0 ? MINIMISE_ERROR : MINIMISE_DONE;
}

/* Explains states and adds the bug. Takes b, which explain_begin() began. *bug: its number.
 * *is_new: it was not known at this failure point. */
static enum minimise_end explain_states(struct worker *w, const uint64_t *left,
					const struct verdict *v, struct crash_bug *b, size_t *bug,
					bool *is_new, struct error *err)
{
	struct explorer *e = &w->explorer;
	const struct verdict first = *v;
	struct crash_store oldest = { 0 };
	enum minimise_end end = explain_hang(w, left, &first, b, &oldest, err);
	uint64_t *smallest;
	uint32_t survived;
	struct known_bug *k;

	if (end != MINIMISE_DONE) {
		crash_bug_release(b);
		return end;
	}
	if (!is_confirmed(w, b))
		end = confirm(w, left, &first, b, err);
	if (end != MINIMISE_DONE) {
		crash_bug_release(b);
		return end;
	}
	smallest = state_parse(&e->set, b->state, err);
	survived = b->survived.n ? b->survived.at[0].site : 0;
	*bug = remember(w, b);
	k = &w->known.at[*bug];
	*is_new = !is_here(w, k);
	if (*is_new)
		k->here = (struct known_here){ .point = e->walk->point,
					       .has_place = oldest.seq != 0,
					       .place = oldest.site,
					       .kind = first.kind,
					       .code = first.code,
					       .site = first.site };
	explorer_know(e, smallest, survived);
	free(smallest);
	return MINIMISE_DONE;
}

/* Does recovery still fail if the losses of known bugs have returned? Fills v. */
static int fails_without(struct explorer *e, const uint64_t *rest, struct verdict *v,
			 struct error *err)
{
	explorer_count_asked(e);
	if (explorer_try(e, rest, v, err) < 0)
		return -1;
	return !v->why_unsound && v->kind != VERDICT_OK;
}

/* Explains the state in which losses of known bugs have returned, or the failure itself if that
 * state does not fail. */
static enum minimise_end explain_next(struct worker *w, const struct failure *f,
				      const struct crash_bug *told, const uint64_t *rest,
				      size_t *bug, bool *is_new, struct error *err)
{
	const bool is_rest = memcmp(rest, f->newest, w->explorer.set.nwords * sizeof *rest) != 0;
	struct verdict v;
	struct crash_bug b;
	int fails = is_rest ? fails_without(&w->explorer, rest, &v, err) : 0;

	if (fails < 0)
		return MINIMISE_ERROR;
	if (fails)
		explain_begin(&w->explorer, &v, &b);
	else
		describe_again(told, &b);
	return explain_states(w, fails ? rest : f->left, fails ? &v : f->v, &b, bug, is_new, err);
}

/* Explains bugs until the failure belongs to known ones. */
static int find_bugs(struct worker *w, const struct failure *f, const struct crash_bug *told,
		     struct error *err)
{
	uint64_t *rest = states_copy(&w->explorer.set, f->newest);
	enum minimise_end end = MINIMISE_DONE;
	size_t bug = SIZE_MAX;
	bool is_new = true;
	int is_counted = 0;

	for (unsigned n = 0; n < BUGS_MAX && is_new && end == MINIMISE_DONE && is_counted == 0;
	     n++) {
		is_counted = attribute(w, f, n == 0, rest, err);
		if (is_counted == 0)
			end = explain_next(w, f, told, rest, &bug, &is_new, err);
	}
	free(rest);
	if (is_counted < 0 || end == MINIMISE_ERROR)
		return -1;
	if (is_counted == 0 && bug == SIZE_MAX)
		return note_unexplained(w->explorer.counters, end);
	if (is_counted == 0)
		count(w, f, bug);
	return 0;
}

int known_on_failure(struct explorer *e, const uint64_t *left, const struct verdict *v,
		     void *worker, struct error *err)
{
	const struct verdict first = *v;
	struct worker *w = worker;
	struct crash_bug told;
	struct failure f;
	int result = 0;

	send_failed(w, left);
	failure_begin(e, left, &first, &f);
	if (!count_remembered(w, &f)) {
		explain_begin(e, &first, &told);
		result = find_bugs(w, &f, &told, err);
		crash_bug_release(&told);
	}
	failure_end(&f);
	return result;
}
