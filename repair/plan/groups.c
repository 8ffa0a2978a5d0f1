/* Puts bugs into groups that are fixed together: their changes were merged, or change the same
 * statement. To fix only one bug of a group would leave a flush without its fence. */
#include <string.h>

#include "repair/plan/internal.h"
#include "util/str.h"

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

/* Returns the statement of a block that contains the node. */
static const struct source_node *block_statement(const struct source_node *n)
{
	while (n->parent && n->parent->kind != SOURCE_COMPOUND)
		n = n->parent;
	return n;
}

static bool touches(const struct fix *x, const struct fix *y)
{
	const struct source_node *a = block_statement(x->stmt), *b = block_statement(y->stmt);

	return x->file == y->file &&
	       ((a->begin == b->begin && a->end == b->end) ||
		(x->fence_stmt && y->fence_stmt && x->fence_stmt->begin == y->fence_stmt->begin));
}

void group_by_place(struct repair *r)
{
	for (size_t i = 0; i < r->fixes.n; i++)
		for (size_t k = i + 1; k < r->fixes.n && r->fixes.at[k].file == r->fixes.at[i].file;
		     k++)
			if (!r->fixes.at[i].is_dropped && !r->fixes.at[k].is_dropped &&
			    touches(&r->fixes.at[i], &r->fixes.at[k]))
				group_join(r, r->fixes.at[i].bug, r->fixes.at[k].bug);
}

static bool is_add(const struct repair_bug *b)
{
	return strcmp(b->kind, "tx-missing-add") == 0;
}

/* Finds the tx-missing-add finding about the same store; NULL: none. */
static const struct repair_bug *add_at(const struct repair_bug *const *bugs, size_t n,
				       const struct repair_place *p)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; is_add(bugs[i]) && k < bugs[i]->nplaces; k++) {
			const struct repair_place *q = &bugs[i]->places[k];

			if (q->nframes && p->nframes && q->frames[0].line == p->frames[0].line &&
			    q->frames[0].column == p->frames[0].column &&
			    str_same_known(q->frames[0].file, p->frames[0].file) &&
			    str_same_known(q->role, "store"))
				return bugs[i];
		}
	return NULL;
}

/* Finds the tx-missing-add finding about a store that the crash loses, if all lost stores have such
 * a finding; NULL otherwise. A transaction does not make these stores durable at its end, because
 * it does not log them. */
static const struct repair_bug *add_of_lost(const struct repair_bug *const *bugs, size_t n,
					    const struct repair_bug *b)
{
	const struct repair_bug *found = NULL;

	for (size_t i = 0; i < b->nplaces; i++)
		if (str_same_known(b->places[i].role, "lost")) {
			found = add_at(bugs, n, &b->places[i]);
			if (!found)
				return NULL;
		}
	return found;
}

const struct repair_bug *bug_add_of(const struct repair_bug *const *bugs, size_t n,
				    const struct repair_bug *b)
{
	const struct repair_bug *found = NULL;

	if (is_add(b))
		return NULL;
	for (size_t i = 0; b->has_cause && i < n && !found; i++)
		if (bugs[i]->origin == b->cause)
			found = is_add(bugs[i]) ? bugs[i] : add_of_lost(bugs, n, bugs[i]);
	return found ? found : add_of_lost(bugs, n, b);
}

bool bug_goes_with_add(const struct repair_bug *const *bugs, size_t n, const struct repair_bug *b)
{
	return bug_add_of(bugs, n, b) != NULL;
}
