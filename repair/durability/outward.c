/* Out of the function that stores, without a copy of it: if it stores to where its parameters point, its caller can flush instead.
 * Bytes are told by arguments in place of parameters. A fence that follows the store inside the function would come before the
 * flush: such functions are not left this way. */
#include "repair/plan/internal.h"

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

/* One of the next statements flushes. */
bool call_is_flushed_after(const struct source_node *call)
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

bool outward_step(struct repair *r, const struct fix *x, struct fix *outer, const struct repair_place *p, size_t i)
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
