/* Keeps which finding is listed under which, and by which rule (a bond), and builds the cure of a
 * cause from its bonds. One call can fix several findings only at certain places: after the last of
 * their stores, or before the first event that must not overtake them. */
#include "account/causes/bonds.h"

#include "report/causes.h"
#include "account/causes/place.h"

void bonds_add(struct bonds *b, size_t cause, size_t member, enum bond_kind kind)
{
	*vec_add(&b->list) = (struct bond){ cause, member, kind };
}

void bonds_release(struct bonds *b)
{
	vec_release(&b->list);
}

void bonds_members(const struct bonds *b, const struct report *r, size_t cause, enum bond_kind kind,
		   numbers *out)
{
	out->n = 0;
	*vec_add(out) = cause;
	for (size_t i = 0; i < b->list.n; i++)
		if (b->list.at[i].kind == kind && report_cause(r, b->list.at[i].member) == cause)
			*vec_add(out) = b->list.at[i].member;
}

/* Gives the last finding of a window: the one whose lost store survives in no other finding of the
 * window. */
size_t window_last(const struct report *r, const numbers *window)
{
	for (size_t i = window->n; i-- > 0;) {
		const struct bug_location *close =
			place_find(report_draft(r, window->at[i]), "lost");
		bool is_inside = !close;

		for (size_t k = 0; close && k < window->n; k++) {
			const struct bug_location *inside =
				place_find(report_draft(r, window->at[k]), "survived");

			is_inside |= inside && place_same(close, inside);
		}
		if (!is_inside)
			return window->at[i];
	}
	return window->at[window->n - 1];
}

/* ---- cures ---- */

static void add_places(struct cause_cure *c, const struct trials *t, size_t i)
{
	struct cause_cure other;

	cause_cure_of(&other, t, i);
	for (size_t n = 0; n < other.nof; n++)
		cause_cure_add(c, other.of[n]);
}

/* Supposes a call after the last of the stores. In the same function, the call is for the lines of
 * all stores; of another function's stores, only for lines to which the cause stores, too. */
static void suppose_flush(struct trials *t, const struct report *r, const numbers *group)
{
	const struct bug_location *first = place_store(report_draft(r, group->at[0])),
				  *last = first;
	struct cause_cure c = { .kind = CAUSE_CURE_CALL };

	for (size_t i = 0; i < group->n && first; i++) {
		const struct bug_location *l = place_store(report_draft(r, group->at[i]));

		if (!l)
			continue;
		if (i == 0 || place_same_function(first, l))
			add_places(&c, t, group->at[i]);
		if (l->seq > last->seq)
			last = l;
	}
	c.after = last ? trials_class(t, last->site) : 0;
	if (c.after)
		trials_suppose(t, &c);
}

/* Supposes a fence before the first event that must not overtake one of the stores. */
static void suppose_fence(struct trials *t, const struct report *r, const numbers *group)
{
	const struct bug_location *where = NULL;
	struct cause_cure c = { .kind = CAUSE_CURE_FENCE };

	for (size_t i = 0; i < group->n; i++) {
		const struct bug_location *l = place_end(report_draft(r, group->at[i]));

		add_places(&c, t, group->at[i]);
		if (l && (!where || (l->seq && l->seq < where->seq)))
			where = l;
	}
	c.before = where ? trials_class(t, where->site) : 0;
	if (c.before)
		trials_suppose(t, &c);
}

/* Supposes that all stores from the place that opens the window to the one that closes it become
 * durable at once. */
static bool suppose_window(struct trials *t, const struct report *r, const numbers *group)
{
	const struct bug_location *open = place_find(report_draft(r, group->at[0]), "survived"),
				  *close = place_find(report_draft(r, window_last(r, group)),
						      "lost");
	struct cause_cure c = { .kind = CAUSE_CURE_ATOMIC };

	if (!open || !close)
		return false;
	for (size_t i = 0; i < group->n; i++) {
		const struct bug *b = report_draft(r, group->at[i]);

		for (size_t k = 0; k < b->nlocations; k++)
			if (place_is(&b->locations[k], "lost") ||
			    place_is(&b->locations[k], "survived"))
				cause_cure_add(&c, trials_class(t, b->locations[k].site));
	}
	c.first = trials_class(t, open->site);
	c.last = trials_class(t, close->site);
	trials_suppose(t, &c);
	return true;
}

/* Supposes one range of a transaction, for two statements of one function that store to one
 * line. */
static void suppose_range(struct trials *t, const struct report *r, const numbers *group)
{
	struct cause_cure c = { .kind = CAUSE_CURE_LOG };

	for (size_t i = 1; i < group->n; i++)
		if (place_same_function(&report_draft(r, group->at[0])->locations[0],
					&report_draft(r, group->at[i])->locations[0]))
			add_places(&c, t, group->at[i]);
	trials_suppose(t, &c);
}

bool bonds_suppose(const struct bonds *b, const struct report *r, size_t cause, struct trials *t)
{
	struct cause_cure own;
	bool has_cure;
	numbers group = { 0 };

	bonds_members(b, r, cause, BOND_WINDOW, &group);
	/* this window is longer than the cause's own */
	has_cure = group.n > 1 && suppose_window(t, r, &group);
	cause_cure_of(&own, t, cause);
	if (!has_cure && own.kind != CAUSE_CURE_NONE) {
		trials_suppose(t, &own);
		has_cure = true;
	}
	bonds_members(b, r, cause, BOND_FLUSH, &group);
	if (group.n > 1)
		suppose_flush(t, r, &group);
	bonds_members(b, r, cause, BOND_FENCE, &group);
	if (group.n > 1)
		suppose_fence(t, r, &group);
	bonds_members(b, r, cause, BOND_RANGE, &group);
	if (group.n > 1)
		suppose_range(t, r, &group);
	vec_release(&group);
	return has_cure;
}
