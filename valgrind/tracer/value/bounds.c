/* Remembers how large an expression can be on this path: a program checks that an index is within
 * its table before it uses it. Keeps branches on comparisons with a constant, as many as there is
 * room for. */
#include "valgrind/tracer/value/bounds.h"

#define BOUNDS 4096 /* a power of two */

static struct bound {
	UInt id;
	ULong most;
} g_bounds[BOUNDS];

static struct bound *slot_of(UInt id)
{
	return &g_bounds[id * 0x9e3779b1u >> 20 & (BOUNDS - 1)];
}

/* Notes that the expression is at most `most`. Zero extension does not change a value, so it is
 * removed first. */
static void bound_add(UInt id, ULong most)
{
	struct bound *b;

	while (expr_at(g_pool, id)->op == EXPR_ZEXT)
		id = expr_at(g_pool, id)->arg[0];
	b = slot_of(id);
	if (b->id != id || most < b->most)
		*b = (struct bound){ id, most }; /* may replace the bound of another expression */
}

static Bool is_constant(UInt id)
{
	return expr_at(g_pool, id)->op == EXPR_CONST;
}

/* Learns from a comparison that is true: a < b, or a <= b. */
static void less(const struct expr *e, Bool is_strict)
{
	ULong k;

	if (!is_constant(e->arg[1]))
		return;
	k = expr_at(g_pool, e->arg[1])->k;
	if (!is_strict || k > 0)
		bound_add(e->arg[0], k - is_strict);
}

/* Learns from a comparison that is false: then b <= a, or b < a. */
static void not_less(const struct expr *e, Bool is_strict)
{
	ULong k;

	if (!is_constant(e->arg[0]))
		return;
	k = expr_at(g_pool, e->arg[0])->k;
	if (is_strict || k > 0)
		bound_add(e->arg[1], k - !is_strict);
}

void bound_note(struct val condition)
{
	const struct expr *e = expr_at(g_pool, condition.id);
	Bool is_true = condition.v != 0;

	while (e->op == EXPR_NOT) {
		e = expr_at(g_pool, e->arg[0]);
		is_true = !is_true;
	}
	if (e->op != EXPR_ULT && e->op != EXPR_ULE)
		return;
	if (is_true)
		less(e, e->op == EXPR_ULT);
	else
		not_less(e, e->op == EXPR_ULT);
}

ULong bound_of(UInt id)
{
	const struct bound *b = slot_of(id);

	return b->id == id ? b->most : ~0ULL;
}
