/* Says what a dump was compared with: the operation in flight, the states without and with it, the
 * state that was found, and where they differ. After a crash during recovery, the operation is the
 * one that the first crash interrupted. */
#include "account/dump_comparison.h"

#include <stdlib.h>

/* Finds the operation that a crash before an event interrupts. */
static void find_operation(struct bug_comparison *c, const struct plan *p, uint64_t seq)
{
	for (size_t i = 0; i < p->operations.n; i++) {
		const struct operation *o = &p->operations.at[i];

		if (o->begin_seq >= seq || seq > o->end_seq)
			continue;
		if (c->nflying++ == 0 && *o->name)
			c->name = o->name;
	}
	if (c->nflying)
		c->operation = plan_operation(p, seq);
	c->is_request = p->has_requests;
	c->is_assumed = !p->has_annotated_operations && !c->is_request;
}

bool comparison_make(struct comparison *c, const struct crash_bug *b,
		     const struct dump_texts *texts, const struct plan *plan, uint64_t seq)
{
	char *before, *after;

	*c = (struct comparison){ 0 };
	if (!b->found)
		return false;
	before = b->allowed.n ? dump_texts_find(texts, b->allowed.at[0]) : NULL;
	after = b->allowed.n > 1 ? dump_texts_find(texts, b->allowed.at[b->allowed.n - 1]) : NULL;
	dump_diff_make(&c->diff, before, after, b->found);
	c->before = before ? dump_diff_excerpt(before, c->diff.first_line[0]) : NULL;
	c->after = after ? dump_diff_excerpt(after, c->diff.first_line[1]) : NULL;
	c->found = dump_diff_excerpt(b->found, c->diff.first_line[2]);
	c->told = (struct bug_comparison){ .nallowed = b->allowed.n,
					   .before = c->before,
					   .after = c->after,
					   .found = c->found,
					   .list = c->diff.list.at,
					   .n = c->diff.list.n,
					   .ndifferences = c->diff.ndifferences };
	find_operation(&c->told, plan, seq);
	free(before);
	free(after);
	return true;
}

void comparison_release(struct comparison *c)
{
	free(c->before);
	free(c->after);
	free(c->found);
	dump_diff_release(&c->diff);
}
