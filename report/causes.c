/* Lists findings under the finding that causes them. All findings get their ids before that, so
 * baselines and suppressions by id work whether or not a finding is listed under another one. */
#include "report/causes.h"

#include <stdlib.h>
#include <string.h>

#include "report/internal.h"

size_t report_ndrafts(const struct report *r)
{
	return r->bugs.n;
}

const struct bug *report_draft(const struct report *r, size_t i)
{
	return &r->bugs.at[i]->bug;
}

size_t report_draft_nsites(const struct report *r, size_t i)
{
	return r->bugs.at[i]->sites.n;
}

uint32_t report_draft_site(const struct report *r, size_t i, size_t k)
{
	return r->bugs.at[i]->sites.at[k].site;
}

static struct report_entry *root_of(struct report_entry *e)
{
	while (e->cause)
		e = e->cause;
	return e;
}

bool report_explain(struct report *r, size_t i, size_t cause)
{
	struct report_entry *e = root_of(r->bugs.at[i]), *to = root_of(r->bugs.at[cause]);

	if (e == to)
		return false;
	e->cause = to;
	return true;
}

size_t report_cause(const struct report *r, size_t i)
{
	const struct report_entry *root = root_of(r->bugs.at[i]);
	size_t k = 0;

	while (r->bugs.at[k] != root)
		k++;
	return k;
}

void report_may_share(struct report *r, size_t i, size_t cause)
{
	if (root_of(r->bugs.at[i]) != root_of(r->bugs.at[cause]))
		r->bugs.at[i]->may_share = r->bugs.at[cause];
}

void report_takes_all(struct report *r, size_t i)
{
	r->bugs.at[i]->bug.takes_all = true;
}

void report_demote(struct report *r, size_t i, const char *reason, const char *undecided_by)
{
	struct bug *b = &r->bugs.at[i]->bug;

	b->severity = BUG_WARNING;
	b->reason = arena_text(&r->arena, reason);
	b->undecided_by = arena_text(&r->arena, undecided_by);
}

void report_restore(struct report *r, size_t i)
{
	struct bug *b = &r->bugs.at[i]->bug;
	const struct bug_kind *kind = bug_kind_find(b->kind);

	b->severity = kind ? kind->severity : BUG_CORRECTNESS;
	b->reason = b->undecided_by = NULL;
}

void report_drop(struct report *r, size_t i)
{
	struct report_entry *e = r->bugs.at[i];

	e->is_dropped = true;
	memmove(&r->bugs.at[i], &r->bugs.at[i + 1], (r->bugs.n - i - 1) * sizeof r->bugs.at[0]);
	r->bugs.n--;
	entry_release(e);
}

bool report_is_dropped(const struct report *r, const struct bug *b)
{
	char *key = ident_key(b);
	const struct report_entry *e = map_get(&r->by_key, hash_text(key));

	while (e && (!e->is_dropped || strcmp(e->key, key) != 0))
		e = e->next;
	free(key);
	return e != NULL;
}

bool report_each_site(const struct report *r, size_t i, bool (*each)(uint32_t site, void *arg),
		      void *arg)
{
	const struct report_entry *e = r->bugs.at[i];

	for (size_t k = 0; k < e->sites.n; k++)
		if (!each(e->sites.at[k].site, arg))
			return false;
	return e->sites.n > 0;
}

void report_unexplain(struct report *r, size_t i)
{
	struct report_entry *e = r->bugs.at[i];

	e->cause = NULL;
	for (size_t k = 0; k < r->bugs.n; k++)
		if (r->bugs.at[k]->lender == e) {
			r->bugs.at[k]->bug.crash = NULL;
			r->bugs.at[k]->lender = NULL;
		}
}

void report_lend_crash(struct report *r, size_t cause, size_t consequence)
{
	struct report_entry *e = r->bugs.at[cause], *lender = r->bugs.at[consequence];

	if (e->bug.crash || !lender->bug.crash)
		return;
	e->bug.crash = bug_crash_copy(&r->arena, lender->bug.crash);
	e->lender = lender->lender ? lender->lender : lender;
}

void report_set_locations(struct report *r, size_t i, const struct bug_location *locations,
			  size_t n, const char *message)
{
	struct bug *b = &r->bugs.at[i]->bug;

	b->locations = bug_locations_copy(&r->arena, locations, n);
	b->nlocations = n;
	b->message = arena_text(&r->arena, message);
	vec_release(&r->bugs.at[i]->paths); /* the paths belonged to the old locations */
}

/* ---- reports that become one ---- */

static bool is_member(const causes_members *all, const struct report_entry *e, size_t group)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].entry == e && all->at[i].group == group)
			return true;
	return false;
}

/* Finds the nearest cause, direct or indirect, that also explains the finding in this report. */
static struct report_entry *cause_left(const causes_members *all, const struct causes_member *m)
{
	struct report_entry *cause = m->entry->cause;

	while (cause && !is_member(all, cause, m->group))
		cause = cause->cause;
	return cause;
}

static bool is_short_flush(const struct report_entry *e)
{
	return e && strcmp(e->bug.kind, "short-flush") == 0;
}

/* Is the finding's cause a flush that is too short, in this report and in those before? One report
 * may blame a call, another one the helper that it calls. Either is right, so the first stays. */
static bool is_left_out_by_both(const struct causes_member *m)
{
	return m->cause != m->entry && is_short_flush(m->entry->cause) && is_short_flush(m->cause);
}

void causes_merge(const causes_members *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct causes_member *m = &all->at[i];

		if (!m->is_new && !is_left_out_by_both(m))
			m->entry->cause = cause_left(all, m);
		else if (!m->is_new)
			continue;
		else if (m->cause != m->entry)
			m->entry->cause = m->cause; /* NULL: it has no cause */
	}
}

/* ---- when all is known ---- */

/* Lists the consequences of a cause, in the order of the report. */
static void gather(struct report *r, struct report_entry *cause)
{
	struct bug *list;
	size_t n = 0;

	for (size_t i = 0; i < r->bugs.n; i++)
		n += r->bugs.at[i]->cause && root_of(r->bugs.at[i]) == cause;
	if (n == 0)
		return;
	list = arena_alloc(&r->arena, n * sizeof *list);
	n = 0;
	for (size_t i = 0; i < r->bugs.n; i++)
		if (r->bugs.at[i]->cause && root_of(r->bugs.at[i]) == cause)
			list[n++] = r->bugs.at[i]->bug;
	cause->bug.consequences = list;
	cause->bug.nconsequences = n;
}

void causes_finish(struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->bugs.n; i++)
		if (r->bugs.at[i]->may_share)
			memcpy(r->bugs.at[i]->bug.may_share_cause,
			       root_of(r->bugs.at[i]->may_share)->bug.id,
			       sizeof r->bugs.at[i]->bug.id);
	for (size_t i = 0; i < r->bugs.n; i++)
		if (!r->bugs.at[i]->cause) {
			/* another run counts it as a bug of its own */
			r->bugs.at[i]->bug.takes_all = false;
			gather(r, r->bugs.at[i]);
		}
	for (size_t i = 0; i < r->bugs.n; i++)
		if (!r->bugs.at[i]->cause)
			r->bugs.at[n++] = r->bugs.at[i];
		else
			entry_release(r->bugs.at[i]);
	r->bugs.n = n;
}
