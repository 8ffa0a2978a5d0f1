/* Lists each call path and each consequence as a finding of its own again, for a caller that fixes
 * one after the other. */
#include "report/internal.h"

static struct report_entry *entry_of_path(struct report *r, const struct report_entry *e,
					  const struct bug_path *p)
{
	struct report_entry *one = arena_alloc(&r->arena, sizeof *one);

	*one = (struct report_entry){
		.bug = e->bug, .key = e->key, .origin = e->origin, .origin_cause = e->origin_cause
	};
	one->bug.locations = p->locations;
	one->bug.nlocations = p->nlocations;
	one->bug.count = p->count;
	one->bug.executions = p->executions;
	one->bug.first_seq = p->first_seq;
	one->bug.crash = p->crash;
	one->bug.paths = NULL;
	one->bug.npaths = 0;
	return one;
}

/* Makes each consequence a finding of its own again. */
static void causes_unfold(struct report *r)
{
	for (size_t i = 0, n = r->bugs.n; i < n; i++) {
		struct bug *b = &r->bugs.at[i]->bug;

		r->bugs.at[i]->origin_cause = REPORT_NO_CAUSE;
		for (size_t k = 0; k < b->nconsequences; k++) {
			report_append(r, &b->consequences[k]);
			r->bugs.at[r->bugs.n - 1]->origin_cause = i;
			r->bugs.at[r->bugs.n - 1]->bug.takes_all = false;
		}
		b->nconsequences = 0;
	}
}

void report_unfold(struct report *r)
{
	VEC(struct report_entry *) all = { 0 };

	if (!r->is_finished)
		BUG("a report is unfolded before it is finished");
	causes_unfold(r);
	r->norigins = r->bugs.n;
	for (size_t i = 0; i < r->bugs.n; i++) {
		struct report_entry *e = r->bugs.at[i];

		e->origin = i;
		if (e->bug.npaths == 0)
			*vec_add(&all) = e;
		for (size_t k = 0; k < e->bug.npaths; k++)
			*vec_add(&all) = entry_of_path(r, e, &e->bug.paths[k]);
		entry_release(e);
	}
	r->bugs.n = 0;
	for (size_t i = 0; i < all.n; i++)
		*vec_add(&r->bugs) = all.at[i];
	vec_release(&all);
}

size_t report_norigins(const struct report *r)
{
	return r->norigins;
}

size_t report_origin(const struct report *r, size_t i)
{
	return r->bugs.at[i]->origin;
}

size_t report_origin_cause(const struct report *r, size_t i)
{
	return r->bugs.at[i]->origin_cause;
}
