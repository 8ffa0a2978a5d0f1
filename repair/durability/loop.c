/* Moves flushes and fences behind loops. If a loop only fills an array from its beginning, one
 * flush behind the loop writes it back. A fence goes behind a loop in which nothing depends on its
 * order. */
#include <string.h>

#include "repair/durability/internal.h"
#include "repair/edit/internal.h"

/* Returns the loop whose body is this statement or the block around it; NULL: none. */
static const struct source_node *loop_around(const struct source_node *stmt)
{
	const struct source_node *p = stmt->parent;

	if (p && p->kind == SOURCE_COMPOUND)
		p = p->parent;
	return p && (p->kind == SOURCE_FOR || p->kind == SOURCE_WHILE || p->kind == SOURCE_DO)
		       ? p
		       : NULL;
}

static bool is_whole_body(const struct source_node *loop, const struct source_node *stmt)
{
	return stmt == loop->last ||
	       (stmt->parent == loop->last && loop->last->kind == SOURCE_COMPOUND &&
		stmt == loop->last->child && !stmt->next);
}

struct counting {
	const char *name; /* name of the loop's variable, which begins at 0 and grows by 1 */
	/* what the variable stays below; or the variable itself, if it is declared outside and
	 * still known behind the loop */
	const struct source_node *limit;
};

static bool begins_at_zero(struct repair *r, const struct file *f, const struct source_node *init,
			   const char **name)
{
	const struct source_node *v = init->kind == SOURCE_DECL ? init->child : init;
	const struct source_node *value;

	if (!v ||
	    (v->kind == SOURCE_VARIABLE ? init->child != init->last
					: strcmp(v->op, "=") != 0 || v->child->kind != SOURCE_NAME))
		return false;
	*name = v->kind == SOURCE_VARIABLE ? v->name : v->child->name;
	value = v->last;
	return *name && value && value->kind == SOURCE_LITERAL &&
	       strcmp(text_of(r->code, f, value), "0") == 0;
}

static bool steps_by_one(const struct source_node *step, const char *name)
{
	return step->kind == SOURCE_UNARY &&
	       (strcmp(step->op, "x++") == 0 || strcmp(step->op, "++x") == 0) &&
	       step->child->kind == SOURCE_NAME && strcmp(step->child->name, name) == 0;
}

static bool has_assignment(const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (node_is_assignment(n) || n->kind == SOURCE_LAMBDA ||
		    ((n->kind == SOURCE_BINARY || n->kind == SOURCE_UNARY) && !n->op[0]))
			return true; /* a macro may hide an assignment */
	return false;
}

static bool is_counting(struct repair *r, const struct fix *x, const struct source_node *loop,
			struct counting *c)
{
	const struct source_node *init = loop->child, *test = init ? init->next : NULL,
				 *step = test ? test->next : NULL;

	if (loop->kind != SOURCE_FOR || !step || step->next != loop->last ||
	    !begins_at_zero(r, x->file, init, &c->name))
		return false;
	if (init->kind == SOURCE_BINARY && init->child->is_local && !init->child->is_reference &&
	    !init->child->is_volatile && steps_by_one(step, c->name) && !has_assignment(test) &&
	    !has_assignment(x->store->last)) {
		c->limit = init->child;
		return true;
	}
	if (test->kind != SOURCE_BINARY || strcmp(test->op, "<") != 0 ||
	    test->child->kind != SOURCE_NAME || strcmp(test->child->name, c->name) != 0 ||
	    !steps_by_one(step, c->name))
		return false;
	c->limit = test->last;
	/* A negative limit would give a huge length. A limit in memory may be changed by the loop
	 * itself. */
	return c->limit->kind == SOURCE_LITERAL ||
	       (c->limit->kind == SOURCE_NAME && c->limit->is_local && c->limit->is_unsigned &&
		!c->limit->is_reference && !c->limit->is_volatile);
}

static bool is_simple_array(const struct source_node *n)
{
	while (n->kind == SOURCE_MEMBER && n->child)
		n = n->child;
	return n->kind == SOURCE_NAME && n->is_local;
}

static void flush_behind(struct repair *r, struct fix *x, const struct source_node *loop)
{
	const struct source_node *l = x->store->child, *array, *index;
	struct counting c;

	if (x->store->kind != SOURCE_BINARY || strcmp(x->store->op, "=") != 0 ||
	    l->kind != SOURCE_SUBSCRIPT || !is_whole_body(loop, x->stmt) ||
	    !is_counting(r, x, loop, &c))
		return;
	array = l->child;
	index = l->last;
	if (index->kind != SOURCE_NAME || strcmp(index->name, c.name) != 0 ||
	    node_mentions(array, c.name) || !is_simple_array(array))
		return;
	x->range.addr = text_of(r->code, x->file, array);
	x->range.len = text_format(
		r->code, "%s * sizeof *%s",
		text_is_postfix(text_of(r->code, x->file, c.limit)) ||
				c.limit->kind == SOURCE_LITERAL
			? text_of(r->code, x->file, c.limit)
			: text_format(r->code, "(%s)", text_of(r->code, x->file, c.limit)),
		x->range.addr);
	x->range.is_one_line = false;
	x->range.base = x->range.thing = x->range.member = NULL;
	x->stmt = loop;
}

/* Returns the outermost loop around the statement that stands in a block and in which no order
 * matters; NULL: none. */
static const struct source_node *calm_around(struct repair *r, const struct fix *x,
					     const struct source_node *stmt)
{
	const struct source_node *best = NULL;

	for (const struct source_node *l = loop_around(stmt);
	     l && loop_is_calm(r->code, x->unit, x->file, l) &&
	     !node_publishes(r->code, x->unit, x->file, l);
	     l = loop_around(l))
		if (l->parent && l->parent->kind == SOURCE_COMPOUND)
			best = l;
	return best;
}

/* Asks whether the file can fence without flushing. If it only has a function that does both, the
 * fix stays in the loop, unless that function consists of plain instructions. */
static bool can_fence_alone(struct repair *r, const struct fix *x)
{
	struct idiom idiom;

	if (!x->needs_flush)
		return true;
	idiom_find(r, x, &idiom);
	return idiom.fence.call &&
	       (!idiom.needs_persist || idiom_is_plain(r, x->unit, idiom.persist.function));
}

/* Asks whether the loop's body is in the source, even if a macro makes its head: LIST_FOREACH(e,
 * list) { … }. */
static bool is_body_written(const struct fix *x, const struct source_node *loop)
{
	const struct source_use *use = macro_use(x->unit, x->file->path, loop);

	return !use || (loop->kind != SOURCE_DO && loop->last->begin >= use->end &&
			loop->end >= loop->last->end);
}

void loop_leave(struct repair *r, struct fix *x)
{
	const struct source_node *loop = x->where == AFTER ? loop_around(x->stmt) : NULL,
				 *outer = loop ? calm_around(r, x, x->stmt) : NULL;

	if (!outer || x->until || !is_body_written(x, outer))
		return;
	if (x->needs_flush && outer == loop && !macro_use(x->unit, x->file->path, loop))
		flush_behind(r, x, loop);
	if (x->stmt != loop && can_fence_alone(r, x))
		x->fence_stmt = outer;
}
