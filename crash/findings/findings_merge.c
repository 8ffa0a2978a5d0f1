/* Merges the findings of several workers into one list. They arrive in any order; the result does
 * not depend on it. */
#include <stdlib.h>
#include <string.h>

#include "crash/findings/findings.h"

/* ---- bugs ---- */

/* Do both bugs have the same loss as their cause, whatever survives? */
static bool is_same_loss(const struct crash_bug *a, const struct crash_bug *b)
{
	if (strcmp(a->kind, b->kind) != 0 || !a->lost.n != !b->lost.n ||
	    !a->survived.n != !b->survived.n)
		return false;
	if (a->lost.n == 0 && a->survived.n == 0)
		return a->at_site == b->at_site;
	return a->acknowledged.site == b->acknowledged.site &&
	       (a->lost.n == 0 || a->lost.at[0].site == b->lost.at[0].site);
}

/* Gives the place of the surviving store. A guessed survivor counts only if nothing is lost out of
 * order: then it is the last store before the crash, which is close enough. */
uint32_t bug_survivor(const struct crash_bug *b)
{
	return b->survived.n && (!b->is_survivor_guessed || strcmp(b->kind, "atomicity") == 0)
		       ? b->survived.at[0].site
		       : 0;
}

bool bug_same(const struct crash_bug *a, const struct crash_bug *b)
{
	if (a->is_survivor_guessed != b->is_survivor_guessed || !is_same_loss(a, b))
		return false;
	return bug_survivor(a) == bug_survivor(b);
}

bool bug_speaks_for(const struct crash_bug *a, const struct crash_bug *b)
{
	return !a->undecided_by == !b->undecided_by ? a->point < b->point : !a->undecided_by;
}

void bug_move_endings(struct crash_bug *from, struct crash_bug *to)
{
	for (size_t i = 0; i < from->endings.n; i++)
		crash_bug_ends(to, from->endings.at[i]);
	from->endings.n = 0;
}

static void merge(struct crash_bug *known, struct crash_bug *b)
{
	uint64_t count = known->count + b->count,
		 runs = known->runs < b->runs ? known->runs : b->runs,
		 last = known->last_point > b->last_point ? known->last_point : b->last_point;
	struct crash_bug later = *b;

	/* a bug with a guess does not replace one without */
	if (bug_speaks_for(b, known) && known->is_survivor_guessed == b->is_survivor_guessed) {
		later = *known;
		*known = *b;
	}
	known->count = count;
	known->runs = runs;
	known->last_point = last;
	bug_move_endings(&later, known);
	crash_bug_release(&later);
}

static struct crash_bug *find_same(struct crash_bug *list, size_t n, const struct crash_bug *b)
{
	for (size_t i = 0; i < n; i++)
		if (bug_same(&list[i], b))
			return &list[i];
	return NULL;
}

void bug_merge(struct crash_result *r, struct crash_bug *b)
{
	struct crash_bug *known = find_same(r->bugs.at, r->bugs.n, b);

	if (known)
		merge(known, b);
	else
		*vec_add(&r->bugs) = *b;
}

/* Finds the first bug of the list whose survivor is known and whose loss is that of `guess`. */
static struct crash_bug *find_known(struct crash_bug *list, size_t n, const struct crash_bug *guess)
{
	for (size_t i = 0; i < n; i++)
		if (!list[i].is_survivor_guessed && is_same_loss(&list[i], guess))
			return &list[i];
	return NULL;
}

void bugs_settle(struct crash_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->bugs.n; i++) {
		struct crash_bug *b = &r->bugs.at[i], *known = NULL;

		if (b->is_survivor_guessed)
			known = find_known(r->bugs.at, n, b);
		if (b->is_survivor_guessed && !known)
			known = find_known(b + 1, r->bugs.n - i - 1, b);
		if (known)
			merge(known, b);
		else
			r->bugs.at[n++] = *b;
	}
	r->bugs.n = n;
}

/* ---- races ---- */

/* Says how much a race's state says, so that the state which says most is kept when races are
 * merged. For reads of undefined bytes, one trial with a difference proves the bug, and an
 * impossible trial leaves the race open. */
static int weight(const struct race *r)
{
	return r->state == RACE_BUG ? 2 : r->state == RACE_UNTRIED;
}

void race_merge(struct crash_result *result, struct race *r)
{
	for (size_t i = 0; i < result->races.n; i++) {
		struct race *known = &result->races.at[i], earlier;
		bool is_better = known->is_certain == r->is_certain ? r->point < known->point
								    : r->is_certain;

		if (!race_same(known, r))
			continue;
		/* one of them saw the race only where it is no error */
		if (known->state != r->state && r->kind != RACE_UNINITIALISED)
			is_better = known->state == RACE_ATOMIC;
		else
			r->count = known->count += r->count;
		if (known->state != r->state && r->kind == RACE_UNINITIALISED)
			is_better = weight(r) > weight(known);
		r->is_certain = known->is_certain |= r->is_certain;
		r->is_porting = known->is_porting &= r->is_porting;
		if (is_better) {
			earlier = *r;
			*r = *known;
			*known = earlier;
		}
		race_release(r);
		return;
	}
	*vec_add(&result->races) = *r;
}

/* Do both races have the same reading place, and the same instruction that stored what is read? */
static bool is_same_read(const struct plan *p, const struct race *a, const struct race *b)
{
	const struct trace_site *x = a->store.site < p->sites.n ? p->sites.at[a->store.site] : NULL;
	const struct trace_site *y = b->store.site < p->sites.n ? p->sites.at[b->store.site] : NULL;

	return a->part == b->part && a->pc == b->pc && x && y && x->pc == y->pc;
}

/* Does the state say that the read is intended: of a commit variable, of data with a checksum, or
 * of a harmless word? Such a read needs no permission of another commit variable, either. */
static bool is_excused(enum race_state s)
{
	return s == RACE_COMMIT || s == RACE_CHECKSUM || s == RACE_HARMLESS;
}

/* Is the read intended to find whatever a crash left? For example, it reads an inferred commit
 * variable. */
static bool is_meant(const struct plan *p, const struct crash_result *r, const struct race *read)
{
	for (size_t i = 0; i < r->races.n; i++) {
		const struct race *race = &r->races.at[i];

		if (race->kind == RACE_UNDURABLE && is_excused(race->state) &&
		    is_same_read(p, race, read))
			return true;
	}
	return false;
}

void races_settle(const struct plan *p, const struct race_table *table, bool is_stopped,
		  struct crash_result *r)
{
	for (size_t i = 0; i < r->races.n; i++) {
		struct race *s = &r->races.at[i];
		struct race_entry key = race_key(s);
		const struct race_entry *known = race_table_find(table, &key);

		if (known && s->kind == RACE_UNDURABLE)
			s->state = (enum race_state)known->state;
		if (s->kind == RACE_UNDURABLE && s->state == RACE_UNKNOWN && is_stopped &&
		    !(known && race_entry_is_final(known)))
			s->state = RACE_UNTRIED; /* another try may find an excuse */
		s->nselected = known ? known->nselected : 0;
		s->nrefuted = known ? known->nrefuted : 0;
	}
	for (size_t i = 0; i < r->races.n; i++) {
		struct race *s = &r->races.at[i];

		if ((s->kind == RACE_UNCOMMITTED || s->kind == RACE_STALE) &&
		    (s->is_certain || (s->nselected && !s->nrefuted)) &&
		    (s->is_ranged || !is_meant(p, r, s)))
			s->state = RACE_BUG;
	}
}

/* ---- first crashes ---- */

static void first_crash_release(struct first_crash *f)
{
	free(f->state);
	vec_release(&f->allowed);
}

void first_crash_merge(struct crash_result *r, struct first_crash *f)
{
	for (size_t i = 0; i < r->first_crashes.n; i++) {
		struct first_crash *known = &r->first_crashes.at[i], later;

		if (known->signature != f->signature || known->is_oldest != f->is_oldest)
			continue;
		if (f->point < known->point) {
			later = *known;
			*known = *f;
			*f = later;
		}
		first_crash_release(f);
		return;
	}
	*vec_add(&r->first_crashes) = *f;
}

/* Is there a first crash with the same signature at an earlier failure point, so that f is not
 * needed? That is asked only of an f that has the oldest content in the lines that recovery did not
 * read. */
static bool is_outdone(const struct crash_result *r, const struct first_crash *f)
{
	for (size_t i = 0; f->is_oldest && i < r->first_crashes.n; i++)
		if (r->first_crashes.at[i].signature == f->signature &&
		    r->first_crashes.at[i].point < f->point)
			return true;
	return false;
}

void first_crashes_settle(struct crash_result *r)
{
	size_t n = 0;

	/* compacts in place: entries that are still to be judged do not move */
	for (size_t i = 0; i < r->first_crashes.n; i++)
		if (is_outdone(r, &r->first_crashes.at[i]))
			first_crash_release(&r->first_crashes.at[i]);
		else
			r->first_crashes.at[n++] = r->first_crashes.at[i];
	r->first_crashes.n = n;
}

/* ---- order ---- */

static int compare_first_crashes(const void *a, const void *b)
{
	const struct first_crash *x = a, *y = b;

	return x->point != y->point ? (x->point > y->point) - (x->point < y->point)
				    : strcmp(x->state, y->state);
}

static int compare_bugs(const void *a, const void *b)
{
	const struct crash_bug *x = a, *y = b;

	return x->point != y->point ? (x->point > y->point) - (x->point < y->point)
				    : strcmp(x->state, y->state);
}

static int compare_races(const void *a, const void *b)
{
	const struct race *x = a, *y = b;

	if (x->point != y->point)
		return (x->point > y->point) - (x->point < y->point);
	return x->pc != y->pc ? (x->pc > y->pc) - (x->pc < y->pc)
			      : (x->store.seq > y->store.seq) - (x->store.seq < y->store.seq);
}

void bugs_sort(struct crash_result *r)
{
	if (r->bugs.n > 0)
		qsort(r->bugs.at, r->bugs.n, sizeof *r->bugs.at, compare_bugs);
}

void findings_sort(struct crash_result *r)
{
	bugs_sort(r);
	if (r->races.n > 0)
		qsort(r->races.at, r->races.n, sizeof *r->races.at, compare_races);
	if (r->first_crashes.n > 0)
		qsort(r->first_crashes.at, r->first_crashes.n, sizeof *r->first_crashes.at,
		      compare_first_crashes);
}

void crash_result_release(struct crash_result *r)
{
	for (size_t i = 0; i < r->bugs.n; i++)
		crash_bug_release(&r->bugs.at[i]);
	vec_release(&r->bugs);
	for (size_t i = 0; i < r->first_crashes.n; i++)
		first_crash_release(&r->first_crashes.at[i]);
	vec_release(&r->first_crashes);
	for (size_t i = 0; i < r->races.n; i++)
		race_release(&r->races.at[i]);
	vec_release(&r->races);
	for (size_t i = 0; i < r->failing.n; i++)
		for (int p = 0; p < FILES_PROFILES; p++)
			free(r->failing.at[i].states[p]);
	vec_release(&r->failing);
	outputs_release(&r->outputs);
	run_reads_release(&r->reads);
	dump_texts_release(&r->texts);
	for (int part = 0; part < PART_N; part++) {
		for (size_t i = 0; i < r->objects[part].n; i++)
			free(r->objects[part].at[i].path);
		vec_release(&r->objects[part]);
	}
	representatives_free(r->representatives);
	vec_release(&r->stops_begun);
	vec_release(&r->stops_done);
	vec_release(&r->variants_failed);
	race_turns_release(&r->race_turns);
	big_release(&r->states_seen);
	big_release(&r->states_all);
	for (size_t i = 0; i < r->why_incomplete.n; i++)
		free(r->why_incomplete.at[i]);
	vec_release(&r->why_incomplete);
	free(r->why_fallback);
	free(r->unread);
	free(r->why_impossible);
	free(r->why_slower);
	free(r->beside);
}
