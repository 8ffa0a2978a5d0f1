/* Which bugs are mended together: those whose changes were merged, or that change the same statement. Taking one without the
 * other would leave a flush without its fence. */
#include <string.h>

#include "repair/plan/internal.h"

size_t group_of(const struct repair *r, size_t bug)
{
	while (r->groups.at[bug] != bug)
		bug = r->groups.at[bug];
	return bug;
}

void group_join(struct repair *r, size_t a, size_t b)
{
	size_t x = group_of(r, a), y = group_of(r, b);

	r->groups.at[x > y ? x : y] = x > y ? y : x;
}

/* The statement of the block that this is in. */
static const struct source_node *block_statement(const struct source_node *n)
{
	while (n->parent && n->parent->kind != SOURCE_COMPOUND)
		n = n->parent;
	return n;
}

static bool touches(const struct fix *x, const struct fix *y)
{
	const struct source_node *a = block_statement(x->stmt), *b = block_statement(y->stmt);

	return x->file == y->file && ((a->begin == b->begin && a->end == b->end) ||
				      (x->fence_stmt && y->fence_stmt && x->fence_stmt->begin == y->fence_stmt->begin));
}

void group_by_place(struct repair *r)
{
	for (size_t i = 0; i < r->fixes.n; i++)
		for (size_t k = i + 1; k < r->fixes.n && r->fixes.at[k].file == r->fixes.at[i].file; k++)
			if (!r->fixes.at[i].is_dropped && !r->fixes.at[k].is_dropped && touches(&r->fixes.at[i], &r->fixes.at[k]))
				group_join(r, r->fixes.at[i].bug, r->fixes.at[k].bug);
}

bool bug_goes_with_add(const struct repair_bug *const *bugs, size_t n, const struct repair_bug *b)
{
	for (size_t i = 0; b->has_cause && strcmp(b->kind, "tx-missing-add") != 0 && i < n; i++)
		if (bugs[i]->origin == b->cause && strcmp(bugs[i]->kind, "tx-missing-add") == 0)
			return true;
	return false;
}
