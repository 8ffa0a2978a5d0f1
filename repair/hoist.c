/* Out of the function that stores: if it stores to where its parameters point, its callers can flush instead, and should if other
 * callers pass volatile memory or flush themselves. Bytes are told by arguments in place of parameters, so no copy of the function is
 * needed. A fence that follows the store inside the function would come before the flush: such functions are changed themselves. */
#include <string.h>

#include "repair/inner.h"

/* After the store, the function does nothing that an order could matter for. */
static bool is_last_action(const struct source_function *f, const struct source_node *store)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		if (n->begin > store->begin && (n->kind == SOURCE_ASM || (n->kind == SOURCE_CALL && n->end > store->end)))
			return false;
		if (n->kind == SOURCE_FOR || n->kind == SOURCE_WHILE || n->kind == SOURCE_DO)
			return false;
	}
	return true;
}

/* A variable of the caller itself, or its address, is passed. */
static bool passes_volatile(const struct source_node *call)
{
	for (const struct source_node *a = call->child ? call->child->next : NULL; a; a = a->next) {
		const struct source_node *n = a;

		if (n->kind == SOURCE_UNARY && n->op[0] == '&')
			n = n->child;
		else if (!n->is_array)
			continue;
		while (n && ((n->kind == SOURCE_MEMBER && !n->is_arrow) || (n->kind == SOURCE_SUBSCRIPT && n->child->is_array) ||
			     (n->kind == SOURCE_EXPR && n->child == n->last)))
			n = n->child;
		if (n && n->kind == SOURCE_NAME && n->is_local && !n->is_reference)
			return true;
	}
	return false;
}

/* One of the next statements flushes. */
static bool is_flushed_after(const struct source_node *call)
{
	const struct source_node *s = call;
	unsigned near = 3;

	while (s->parent && s->parent->kind != SOURCE_COMPOUND)
		s = s->parent;
	for (s = s->next; s && near > 0; s = s->next, near--)
		for (const struct source_node *n = s; n; n = node_next(n, s))
			if (n->kind == SOURCE_CALL && n->name && idiom_is_flush(n->name))
				return true;
	return false;
}

static bool serves_others(const struct source_unit *u, const struct source_function *f, const struct source_node *besides)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		for (const struct source_node *c = u->functions[i].body; c; c = node_next(c, u->functions[i].body))
			if (c->kind == SOURCE_CALL && c != besides && c->name && strcmp(c->name, f->name) == 0 &&
			    (passes_volatile(c) || is_flushed_after(c)))
				return true;
	return false;
}

/* The same change, one call further out; false if that cannot be. */
static bool step_out(struct repair *r, const struct fix *x, struct fix *outer, const struct repair_place *p, size_t i)
{
	const char *why;

	*outer = *x;
	if (!is_last_action(x->function, x->store) || fix_enter_frame(r, outer, p, i + 1, &why) < 0 || outer->unit != x->unit)
		return false;
	outer->store = call_at(outer->function, x->function->name, p->frames[i + 1].line, p->frames[i + 1].column);
	outer->stmt = outer->store;
	if (!outer->store || macro_use(outer->unit, outer->file->path, outer->store) || range_through_call(r, outer, x->function, &why) < 0)
		return false;
	outer->where = AFTER;
	outer->stmt = NULL;
	outer->value = NULL;
	return place_fix(r, outer, &why) == 0 && outer->where != IN_COMMA;
}

void hoist_fix(struct repair *r, struct fix *x, const struct repair_place *p, size_t i)
{
	struct fix now = *x, outer;

	for (; i + 1 < p->nframes && step_out(r, &now, &outer, p, i); i++) {
		if (serves_others(now.unit, now.function, outer.store))
			*x = outer;
		now = outer;
	}
}
