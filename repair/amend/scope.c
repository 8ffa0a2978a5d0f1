/* Replaces an object that flushes in its destructor, if its block ends only after the store is
 * published. A call that flushes takes its place, behind the last store to the watched thing. The
 * object stays if the thing is stored to later, too, or if other flushes wait for its fence. */
#include <string.h>

#include "repair/amend/internal.h"
#include "source/source.h"

static const struct object *watched(struct repair *r, const struct idiom_flush *f,
				    const struct objects *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (strcmp(text_bare(r, f->addr), text_bare(r, o->at[i].addr)) == 0 && !f->len)
			return &o->at[i];
	return NULL;
}

/* Returns one call that flushes and fences as the object does; NULL: the file has none. */
static const char *call_for(struct repair *r, const struct amendment *a)
{
	const bool is_thing = a->flush.addr[0] == '&';
	const struct idiom_line *lines;
	struct fix at = a->at;
	struct idiom i;
	const char *why;

	at.store = at.stmt = a->behind;
	at.range = (struct range){ .addr = a->flush.addr,
				   .thing = is_thing ? a->flush.addr + 1
						     : text_format(r->code, "*%s",
								   text_wrapped(r->code,
										a->flush.addr)),
				   .names = a->behind };
	at.range.len = text_format(r->code, "sizeof(%s)", at.range.thing);
	idiom_find(r, &at, &i);
	i.scope = (struct idiom_call){ 0 };
	lines = i.persist.call || i.flush.uses
			? idiom_lines(r, &i, &at.range, true, a->flush.does & DOES_FENCE, false,
				      &why)
			: NULL;
	return lines && lines[0].text && !lines[1].text && !lines[0].guard ? lines[0].text : NULL;
}

/* Asks whether something that is flushed later in the block may wait for the fence that the object
 * makes. */
static bool is_leaned_on(struct repair *r, const struct amendment *a)
{
	unsigned last = DOES_FENCE;

	for (const struct source_node *n = a->behind->next; n; n = n->next)
		for (const struct source_node *c = n; c; c = node_next(c, n)) {
			unsigned does = c->kind == SOURCE_CALL
						? idiom_call_does_far(r, a->at.unit, c) &
							  (DOES_FLUSH | DOES_FENCE)
						: 0;

			last = does ? does : last;
		}
	return last == DOES_FLUSH;
}

/* Asks whether a path that leaves the block before the new flush would get no flush any more,
 * although the object was stored to. */
static bool is_left_unflushed(struct repair *r, const struct amendment *a, const struct object *o)
{
	bool is_touched = false;

	for (const struct source_node *n = a->at.stmt->next; n; n = n->next) {
		is_touched |= may_store_to(r, &a->at, n, o);
		if (is_touched && statement_may_be_left(a->at.file, n))
			return true;
		if (n == a->behind)
			break;
	}
	return false;
}

static bool gives_way(struct repair *r, struct amendment *a, const struct source_node *from,
		      const struct source_node *to, const struct object *o)
{
	a->how = AMEND_MOVE;
	a->behind = from;
	for (const struct source_node *n = from; n && n != to; n = n->next)
		if (may_store_to(r, &a->at, n, o))
			a->behind = n;
	for (const struct source_node *n = to; n; n = n->next)
		if (may_store_to(r, &a->at, n, o))
			return false;
	if (is_left_unflushed(r, a, o) ||
	    text_has_directive(a->at.file, a->at.stmt->begin,
			       statement_end(a->at.file, a->behind)) ||
	    is_leaned_on(r, a) ||
	    is_changed_between(a->at.function, a->at.stmt->begin, a->behind->end, a->flush.addr))
		return false;
	a->words = call_for(r, a);
	return a->words != NULL;
}

bool amend_scope(struct repair *r, struct amendment *a, const struct source_node *store,
		 const struct source_node *published, const struct objects *o)
{
	const struct amendment given = *a;

	for (const struct source_node *block = published ? published->parent : NULL; block;
	     block = block->parent) {
		const struct source_node *from = source_child_of(block, store),
					 *to = source_child_of(block, published);

		if (block->kind != SOURCE_COMPOUND || !from || !to || from == to)
			continue;
		for (const struct source_node *n = block->child; n && n != from; n = n->next) {
			const struct object *at;

			*a = given;
			a->at.stmt = n;
			if (n->kind != SOURCE_DECL ||
			    !idiom_scope_at(r, a->at.unit, a->at.file, n, &a->flush))
				continue;
			at = watched(r, &a->flush, o);
			if (at && gives_way(r, a, from, to, at))
				return true;
		}
	}
	return false;
}
