/* Marks findings of redundant fences as fixed if the patch adds the missing flush before the fence.
 * The fence had nothing to wait for; now it waits for the flush. Only a fence in the statement
 * right after the flush counts: with statements in between, there may be another fence. */
#include <string.h>

#include "repair/durability/internal.h"

/* Asks whether the fix adds a flush directly before the statement on this line of the function. */
static bool is_before(const struct fix *x, const struct fix *at, uint32_t line)
{
	return x->needs_flush && !x->needs_fence && !x->is_dropped && !x->is_extra &&
	       x->where == AFTER && x->file == at->file && x->function == at->function &&
	       x->stmt->next && x->stmt->next->line == line;
}

static const struct fix *find_flush(const struct repair *r, const struct fix *at, uint32_t line)
{
	for (size_t i = 0; i < r->fixes.n; i++)
		if (is_before(&r->fixes.at[i], at, line))
			return &r->fixes.at[i];
	return NULL;
}

static const struct fix *flush_before(struct repair *r, const struct repair_place *p)
{
	const struct fix *found = NULL;
	const char *why;

	for (size_t i = 0; i < p->nframes && !found; i++) {
		struct fix at = { 0 };

		if (fix_enter_frame(r, &at, p, i, &why) == 0)
			found = find_flush(r, &at, p->frames[i].line);
	}
	return found;
}

void redundant_mark_needed(struct repair *r)
{
	for (size_t i = 0; i < r->bugs.n; i++) {
		const struct repair_bug *b = r->bugs.at[i];
		bool is_left = strcmp(b->kind, "redundant-fence") == 0 &&
			       r->outcomes.at[i].status == REPAIR_DECLINED && r->wanted.at[i] &&
			       b->nplaces;
		const struct fix *x = is_left ? flush_before(r, &b->places[0]) : NULL;
		const struct macro_flush *m =
			is_left && !x ? macro_flush_at(r, &b->places[0]) : NULL;

		if (!x && !m)
			continue;
		r->outcomes.at[i] = (struct repair_outcome){
			REPAIR_MENDED, "the flush that is added before it needs it", NULL
		};
		group_join(r, x ? x->bug : m->bug, i);
	}
}
