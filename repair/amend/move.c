/* Moves a flush that comes after the store which publishes its object: before that store, and
 * behind the last store to the object. No statement in between may store to the object, or the
 * flush is needed where it is. If the flush was also a fence, the fence stays for flushes in
 * between that need one. */
#include <string.h>

#include "repair/amend/internal.h"
#include "source/source.h"

static bool has_label(const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (n->kind == SOURCE_LABEL)
			return true;
	return false;
}

/* Asks whether the call stores past the caches. Such a store needs a fence, like a flush. */
static bool is_streaming(const struct source_node *call)
{
	return call->name && (strstr(call->name, "nodrain") || strstr(call->name, "_stream_") ||
			      strstr(call->name, "nontemporal"));
}

/* Returns the last of the flushes and fences that the statement makes. */
static unsigned ends_with(struct repair *r, const struct fix *at, const struct source_node *stmt)
{
	const struct source_use *use = macro_use(at->unit, at->file->path, stmt);
	unsigned last = use ? idiom_macro_ends(r, at->unit, use->name) : 0, does;
	const char *flush;

	for (const struct source_node *n = use ? NULL : stmt; n; n = node_next(n, stmt)) {
		does = 0;
		if (n->kind == SOURCE_CALL)
			does = is_streaming(n) ? DOES_FLUSH
					       : idiom_call_does_far(r, at->unit, n) &
							 (DOES_FLUSH | DOES_FENCE);
		else if (n->kind == SOURCE_ASM && !idiom_asm(at->unit, n, &does, &flush))
			does = 0;
		last = does ? does : last;
	}
	return last;
}

/* Asks whether, after the statements [from, to), some flush still waits for a fence. */
static bool leaves_unfenced(struct repair *r, const struct fix *at, const struct source_node *from,
			    const struct source_node *to)
{
	unsigned last = 0;

	for (const struct source_node *n = from; n && n != to; n = n->next) {
		unsigned does = ends_with(r, at, n);

		last = does ? does : last;
	}
	return last == DOES_FLUSH;
}

/* Asks whether the moved flush would be executed on further paths: a statement in between may leave
 * the function. That is harmless if the object was certainly stored to just before; otherwise its
 * pointer may be NULL there. */
static bool reaches_more(const struct amendment *a, const struct source_node *store,
			 const struct source_node *from, const struct source_node *flush)
{
	bool is_left = false;

	for (const struct source_node *n = a->behind->next; n && n != flush; n = n->next)
		is_left |= statement_may_be_left(a->at.file, n);
	return is_left && !(a->is_sure && node_is_sure(store, from));
}

bool amend_move(struct repair *r, struct amendment *a, const struct source_node *store,
		const struct source_node *before, const struct object *o)
{
	const struct source_node *flush = a->at.stmt, *block = flush->parent,
				 *from = source_child_of(block, store),
				 *to = source_child_of(block, before);
	bool is_unfenced;
	struct idiom i;

	if (!from || !to || from == to)
		return false;
	a->how = AMEND_MOVE;
	a->behind = from;
	for (const struct source_node *n = from; n && n != to; n = n->next)
		if (may_store_to(r, &a->at, n, o))
			a->behind = n;
	for (const struct source_node *n = a->behind->next; n && n != flush; n = n->next)
		if (may_store_to(r, &a->at, n, o) || has_label(n) ||
		    expression_may_change(a->at.unit, n, a->flush.addr))
			return false;
	if (reaches_more(a, store, from, flush))
		return false;
	if (text_has_directive(a->at.file, a->behind->begin, statement_end(a->at.file, flush)) ||
	    is_changed_between(
		    a->at.function, a->behind->begin + 1, flush->begin,
		    text_format(r->code, "%s %s", a->flush.addr, a->flush.len ? a->flush.len : "")))
		return false;
	is_unfenced = leaves_unfenced(r, &a->at, a->behind->next, flush);
	a->leaves_fence = is_unfenced && a->flush.does & DOES_FENCE;
	if (!(a->flush.does & DOES_FENCE) && !is_unfenced && flush->next &&
	    flush->next->kind == SOURCE_CALL &&
	    idiom_call_does(r, a->at.unit, flush->next) == DOES_FENCE)
		a->needless = flush->next; /* the fence waited only for this flush */
	idiom_find(r, &a->at, &i);
	return !a->leaves_fence || (i.fence.call && !i.fence.guard);
}
