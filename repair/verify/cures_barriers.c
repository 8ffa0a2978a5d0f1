/* Tries barriers: the flushes and fences that the reported places call for, of all bugs together,
 * since some help only together. A bug whose states still fail gets another cure. */
#include <stdlib.h>
#include <string.h>

#include "repair/verify/cures_internal.h"
#include "util/alloc.h"

/* Returns the only store that survived; NULL: none, or several. */
static const struct bug_location *survivor(const struct bug *b)
{
	const struct bug_location *found = NULL;

	for (size_t i = 0; i < b->nlocations; i++) {
		if (strcmp(b->locations[i].role, "survived") != 0)
			continue;
		if (found)
			return NULL;
		found = &b->locations[i];
	}
	return found;
}

/* Adds the barriers that repair would write for the bug. The location behind a lost store is the
 * flush or fence that the store had in time. */
static bool add_barriers(struct cures *c, const struct bug *b, bool is_full, bool is_late)
{
	size_t n = c->whatif.barriers.n;

	for (size_t i = 0; i < b->nlocations; i++) {
		const char *next =
			i + 1 < b->nlocations && !is_full ? b->locations[i + 1].role : "";
		bool has_flush = strcmp(next, "flush") == 0, has_fence = strcmp(next, "fence") == 0;
		uint32_t place;

		if (strcmp(b->locations[i].role, "lost") != 0)
			continue;
		place = call_paths_number(
			&c->places,
			is_late && has_flush ? survivor(b) : &b->locations[has_flush ? i + 1 : i]);
		if (place == 0) {
			c->whatif.barriers.n = n;
			return false;
		}
		*vec_add(&c->whatif.barriers) =
			(struct whatif_barrier){ place, !has_flush, !has_fence,
						 is_late && has_flush };
	}
	return c->whatif.barriers.n > n;
}

/* Adds flushes and fences for bugs that the execution alone shows. The patch has these, too. */
static void add_checked(struct cures *c)
{
	static const char *const kinds[] = { "missing-flush", "missing-flush-fence",
					     "missing-fence" };

	for (size_t i = 0; i < report_nbugs(c->report); i++) {
		const struct bug *b = report_bug(c->report, i);
		size_t kind = 0;
		uint32_t place;

		if (c->bugs[i]->is_left_out)
			continue;
		while (kind < sizeof kinds / sizeof *kinds && strcmp(b->kind, kinds[kind]) != 0)
			kind++;
		for (size_t k = 0; kind < sizeof kinds / sizeof *kinds && k < b->nlocations; k++) {
			if (strcmp(b->locations[k].role, kind == 2 ? "flush" : "store") != 0)
				continue;
			place = call_paths_number(&c->places, &b->locations[k]);
			if (place)
				*vec_add(&c->whatif.barriers) =
					(struct whatif_barrier){ place, kind != 2, true, false };
		}
	}
}

/* Tells the judge to suppose all barriers that are still wanted. */
static void suppose_barriers(struct cures *c)
{
	c->whatif.barriers.n = 0;
	if (c->has_checked)
		add_checked(c);
	for (size_t i = 0; i < c->candidates.n; i++)
		if (c->candidates.at[i].is_barrier)
			c->candidates.at[i].is_barrier = add_barriers(
				c, report_bug(c->report, c->candidates.at[i].bug),
				c->candidates.at[i].is_full, c->candidates.at[i].is_late);
}

static bool has_part(const struct bug *b)
{
	for (size_t i = 0; i < b->nlocations; i++)
		if (strcmp(b->locations[i].role, "flush") == 0 ||
		    strcmp(b->locations[i].role, "fence") == 0)
			return true;
	return false;
}

/* Tries further barriers for a bug, or gives up barriers for it. The report of a later failure may
 * name a flush or fence that came in time for that failure but too late for an earlier one. */
static void fall_back(struct cures *c, struct candidate *x)
{
	cures_tell_failure(c, x->bug,
			   x->is_full ? "a flush and a fence"
				      : "the flushes and fences that it lacks");
	if (!x->is_full && has_part(report_bug(c->report, x->bug)))
		x->is_full = true;
	else
		x->is_barrier = false;
}

/* Tries the barriers of all bugs together, and leaves out bugs whose states still fail, until
 * nothing changes. */
static int try_together(struct cures *c, struct error *err)
{
	bool is_changed = true;

	for (size_t i = 0; i < c->candidates.n; i++) {
		c->candidates.at[i].is_barrier =
			!c->candidates.at[i].is_done &&
			strcmp(report_bug(c->report, c->candidates.at[i].bug)->kind, "atomicity") !=
				0;
		c->candidates.at[i].is_full = false;
	}
	while (is_changed) {
		is_changed = false;
		suppose_barriers(c);
		for (size_t i = 0; i < c->candidates.n; i++) {
			struct candidate *x = &c->candidates.at[i];
			int holds = x->is_barrier ? cure_holds(&x->window, c->plan, &c->whatif,
							       &c->points, &c->judge.judge, err)
						  : 1;

			if (holds < 0)
				return -1;
			if (holds == 0) {
				fall_back(c, x);
				is_changed = true;
			}
		}
	}
	return 0;
}

static size_t count_barriers(const struct cures *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->candidates.n; i++)
		n += c->candidates.at[i].is_barrier || c->candidates.at[i].is_done ||
		     strcmp(report_bug(c->report, c->candidates.at[i].bug)->kind, "atomicity") == 0;
	return n;
}

static void try_with_checked(struct cures *c)
{
	struct candidate *alone = xcalloc(c->candidates.n, sizeof *alone);
	struct error err;

	memcpy(alone, c->candidates.at, c->candidates.n * sizeof *alone);
	c->whatif.barriers.n = 0;
	add_checked(c);
	c->has_checked = c->whatif.barriers.n > 0;
	/* no runs are left: the earlier result stands */
	if (c->has_checked && try_together(c, &err) < 0) {
		memcpy(c->candidates.at, alone, c->candidates.n * sizeof *alone);
		c->has_checked = false;
	}
	free(alone);
}

/* Tries barriers alone, and if that does not fix all bugs, together with what the patch does for
 * bugs without a crash: a state may have lost stores of both. */
int cures_try_barriers(struct cures *c, struct error *err)
{
	if (try_together(c, err) < 0)
		return -1;
	if (count_barriers(c) < c->candidates.n)
		try_with_checked(c);
	for (size_t i = 0; i < c->candidates.n; i++)
		if (c->candidates.at[i].is_barrier) {
			c->bugs[c->candidates.at[i].bug]->cure =
				(struct repair_cure){ .kind = CURE_BARRIER,
						      .is_full = c->candidates.at[i].is_full };
			c->candidates.at[i].is_done = true;
		}
	return 0;
}

/* ---- later fences ---- */

static bool lacks_fence_only(const struct bug *b)
{
	for (size_t i = 0; i + 1 < b->nlocations; i++)
		if (strcmp(b->locations[i].role, "lost") == 0 &&
		    strcmp(b->locations[i + 1].role, "flush") == 0)
			return true;
	return false;
}

static void be_early(struct cures *c, struct candidate *x)
{
	for (size_t i = 0; i < c->candidates.n; i++)
		if (!x->is_late || x == &c->candidates.at[i])
			c->candidates.at[i].is_late = false;
}

/* Tries the barriers with each fence as late as it is planned now. *found: a bug that then fails;
 * NULL: none. */
static int find_too_late(struct cures *c, struct candidate **found, struct error *err)
{
	*found = NULL;
	suppose_barriers(c);
	for (size_t i = 0; i < c->candidates.n; i++) {
		struct candidate *x = &c->candidates.at[i];
		enum repair_cure_kind kind = c->bugs[x->bug]->cure.kind;
		int holds = kind == CURE_BARRIER || kind == CURE_WITH_OTHER
				    ? cure_holds(&x->window, c->plan, &c->whatif, &c->points,
						 &c->judge.judge, err)
				    : 1;

		if (holds < 0)
			return -1;
		if (holds == 0) {
			cures_tell_failure(c, x->bug,
					   "fences just before the stores that survived");
			*found = x;
			return 0;
		}
	}
	return 0;
}

void cures_try_late_fences(struct cures *c)
{
	size_t nlate = 0;
	struct error err;

	for (size_t i = 0; i < c->candidates.n; i++) {
		struct candidate *x = &c->candidates.at[i];
		const struct bug *b = report_bug(c->report, x->bug);

		x->is_late = x->is_barrier && !x->is_full && lacks_fence_only(b) && survivor(b) &&
			     call_paths_number(&c->places, survivor(b)) != 0;
		nlate += x->is_late;
	}
	while (nlate > 0) {
		struct candidate *too_late;

		if (find_too_late(c, &too_late, &err) < 0)
			return; /* no runs are left: the earlier result stands */
		if (!too_late)
			break;
		be_early(c, too_late);
		nlate = 0;
		for (size_t i = 0; i < c->candidates.n; i++)
			nlate += c->candidates.at[i].is_late;
	}
	for (size_t i = 0; i < c->candidates.n; i++)
		if (c->candidates.at[i].is_late)
			c->bugs[c->candidates.at[i].bug]->cure.is_late = true;
}

/* ---- macros ---- */

/* Asks whether the lost and the surviving store are made by one line, and so by a macro. Then all
 * users of the macro have the same bug. */
static bool is_of_one_line(const struct cures *c, const struct bug *b)
{
	const struct bug_location *survived = survivor(b);

	for (size_t i = 0; survived && i < b->nlocations; i++)
		if (strcmp(b->locations[i].role, "lost") == 0 &&
		    call_paths_is_split(&c->places, &b->locations[i]) &&
		    call_paths_is_same_line(&b->locations[i], survived))
			return true;
	return false;
}

/* Adds barriers for stores that a macro never flushes. Returns the first such bug; SIZE_MAX:
 * none. */
static size_t add_unflushed(struct cures *c)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < report_nbugs(c->report); i++) {
		const struct bug *b = report_bug(c->report, i);

		for (size_t k = 0; !c->bugs[i]->is_left_out && k < b->nlocations; k++) {
			const struct bug_location *l = &b->locations[k];
			uint32_t place =
				call_paths_is_unflushed(b, l) && call_paths_is_split(&c->places, l)
					? call_paths_number(&c->places, l)
					: 0;

			if (!place)
				continue;
			*vec_add(&c->whatif.barriers) =
				(struct whatif_barrier){ place, true, true, false };
			first = first == SIZE_MAX ? i : first;
		}
	}
	return first;
}

/* Tries the bugs with an order inside macros: an earlier store of a macro becomes durable before a
 * later one. If that alone fixes all bugs, they need nothing else. 1: it does. */
int cures_try_macros(struct cures *c, struct error *err)
{
	size_t first = SIZE_MAX, unflushed;

	for (size_t i = 0; i < c->places.observed.n; i++)
		if (strcmp(c->places.observed.at[i].role, "library") == 0)
			return 0; /* the program uses libpmemobj, so transactions are better */

	for (size_t i = 0; i < c->candidates.n; i++) {
		struct candidate *x = &c->candidates.at[i];

		if (x->is_done)
			return 0;
		x->is_full = false;
		x->is_barrier = is_of_one_line(c, report_bug(c->report, x->bug));
		if (x->is_barrier && first == SIZE_MAX)
			first = x->bug;
	}
	suppose_barriers(c);
	unflushed = add_unflushed(c);
	first = first == SIZE_MAX ? unflushed : first;
	if (first == SIZE_MAX)
		return 0;
	for (size_t i = 0; i < c->candidates.n; i++) {
		int holds = cure_holds(&c->candidates.at[i].window, c->plan, &c->whatif, &c->points,
				       &c->judge.judge, err);

		if (holds <= 0)
			return holds;
	}
	for (size_t i = 0; i < c->candidates.n; i++) {
		struct candidate *x = &c->candidates.at[i];

		c->bugs[x->bug]->cure =
			x->is_barrier
				? (struct repair_cure){ .kind = CURE_BARRIER, .is_within = true }
				: (struct repair_cure){ .kind = CURE_WITH_OTHER, .other = first };
		x->is_done = true;
	}
	return 1;
}
