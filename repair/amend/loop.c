/* Moves a flush that is behind a loop into the loop. Behind the loop, it writes back only what the
 * last iteration stored, or where the next one would store. So each iteration gets a flush of its
 * own store, and the flush behind the loop is removed (if it was a fence, too, the fence stays).
 * The flush is recognised by its address: the same pointer, or the same array with another
 * index. */
#include <string.h>

#include "repair/amend/internal.h"
#include "source/source.h"

static const struct source_node *loop_around(const struct source_node *n)
{
	while (n && n->kind != SOURCE_FOR && n->kind != SOURCE_WHILE && n->kind != SOURCE_DO &&
	       n->kind != SOURCE_LAMBDA)
		n = n->parent;
	return n && n->kind != SOURCE_LAMBDA && n->parent && n->parent->kind == SOURCE_COMPOUND
		       ? n
		       : NULL;
}

/* Returns the local variable with which an address begins; NULL: none. */
static const char *root_of(const struct source_node *n)
{
	while (n && n->kind != SOURCE_NAME)
		n = n->child;
	return n && n->is_local ? n->name : NULL;
}

static const struct source_node *place_of(const struct fix *x)
{
	int i = call_writes_to(x->unit, x->store);

	return x->store->kind == SOURCE_CALL && i >= 0 ? call_argument(x->store, i)
						       : x->store->child;
}

/* Returns the text without what is in brackets: "a[].b[]" for "a[i].b[0]". "" if it has no
 * brackets. */
static const char *shape(struct repair *r, const char *text)
{
	char *out = arena_alloc(&r->code->arena, strlen(text) + 1), *to = out;
	bool has_index = false;
	int depth = 0;

	for (const char *p = text_bare(r, text); *p; p++) {
		depth -= *p == ']';
		if (depth == 0)
			*to++ = *p;
		depth += *p == '[';
		has_index |= *p == '[';
	}
	*to = 0;
	return has_index ? out : "";
}

/* Returns the only assignment to the variable below `top`; NULL: none, or several. *n: how many
 * there are. */
static const struct source_node *only_assignment(const struct source_node *top, const char *name,
						 unsigned *n)
{
	const struct source_node *found = NULL;

	*n = 0;
	for (const struct source_node *c = top; c; c = node_next(c, top)) {
		if (!node_is_assignment(c) || !c->child ||
		    source_bare(c->child)->kind != SOURCE_NAME ||
		    strcmp(source_bare(c->child)->name, name) != 0)
			continue;
		++*n;
		found = strcmp(c->op, "=") == 0 ? c : NULL;
	}
	return *n == 1 ? found : NULL;
}

/* Asks whether another planned change already gives the store a flush of its own. */
static bool is_mended(const struct repair *r, const struct source_node *store)
{
	for (size_t i = 0; i < r->fixes.n; i++)
		if (r->fixes.at[i].store == store && r->fixes.at[i].needs_flush)
			return true;
	return false;
}

/* Asks whether the function also stores through this variable, or to this array, outside of the
 * loop. Then the flush may be for those stores. */
static bool stores_elsewhere(struct repair *r, const struct fix *x, const char *name,
			     const char *array)
{
	for (const struct source_node *n = x->function->body; n;
	     n = node_next(n, x->function->body)) {
		int i = n->kind == SOURCE_CALL ? call_writes_to(x->unit, n) : WRITES_NOTHING;
		const struct source_node *to =
			i >= 0 ? call_argument(n, i)
			: node_is_assignment(n) && source_bare(n->child)->kind != SOURCE_NAME
				? n->child
				: NULL;
		const char *root = to && !is_mended(r, n) ? root_of(to) : NULL;

		if (root && strcmp(root, name) == 0 &&
		    strncmp(shape(r, text_of(r->code, x->file, to)), array, strlen(array)) == 0)
			return true;
	}
	return false;
}

/* Asks whether a call before the flush, or in the loop, may store to an object of the same type. */
static bool is_touched_before(struct repair *r, const struct fix *x, const struct source_node *loop)
{
	struct objects o;

	objects_of_store(r, x, &o);
	for (const struct source_node *at = loop; o.n && at->parent; at = at->parent)
		for (const struct source_node *n =
			     at->parent->kind == SOURCE_COMPOUND ? at->parent->child : at;
		     n != at; n = n->next)
			if (may_store_to(r, x, n, &o.at[0]))
				return true;
	for (const struct source_node *n = loop; o.n && n; n = node_next(n, loop))
		if (n->kind == SOURCE_CALL && n != x->store && !is_mended(r, n) &&
		    may_store_to(r, x, n, &o.at[0]))
			return true;
	return false;
}

static bool is_used_behind(const struct source_function *f, const struct source_node *n,
			   const char *name)
{
	for (const struct source_node *p = n; p; p = p->parent)
		if (p->kind == SOURCE_FOR || p->kind == SOURCE_WHILE || p->kind == SOURCE_DO)
			return true;
	for (const struct source_node *c = f->body; c; c = node_next(c, f->body))
		if (c->begin > n->end && c->kind == SOURCE_NAME && c->name &&
		    strcmp(c->name, name) == 0)
			return true;
	return false;
}

/* Asks whether the flush is for what the loop stores. The address of the flush is that of `set`, an
 * assignment between loop and flush, or given in the flush itself. */
static bool is_of_loop(struct repair *r, const struct fix *x, const struct source_node *loop,
		       const struct source_node *set, const char *name, const char *addr,
		       const char **array)
{
	const char *place = text_of(r->code, x->file, place_of(x));
	const struct source_node *inside;
	unsigned n;

	inside = only_assignment(loop, name, &n);
	*array = "";
	if (n == 0) { /* the loop stores to a[i].b, the flush is of &a[n - 1] */
		*array = shape(r, addr[0] == '&' ? addr + 1 : addr);
		return !set && *array[0] && strncmp(shape(r, place), *array, strlen(*array)) == 0;
	}
	if (!set) /* the pointer is what the last iteration left */
		return text_is_identifier(text_bare(r, addr)) && inside != NULL;
	return inside && text_is_identifier(text_bare(r, addr)) &&
	       shape(r, text_of(r->code, x->file, set->last))[0] &&
	       strcmp(shape(r, text_of(r->code, x->file, set->last)),
		      shape(r, text_of(r->code, x->file, inside->last))) == 0;
}

bool amend_loop(struct repair *r, struct fix *x, struct amendment *a)
{
	const struct source_node *loop = x->where == AFTER && !macro_use(x->unit, x->file->path,
									 x->store)
						 ? loop_around(x->stmt)
						 : NULL,
				 *n = loop ? loop->next : NULL, *set = NULL;
	const char *name = loop ? root_of(place_of(x)) : NULL, *array;
	struct fix whole = *x;
	struct idiom i;

	if (n && node_is_assignment(n) && source_bare(n->child)->kind == SOURCE_NAME && name &&
	    strcmp(source_bare(n->child)->name, name) == 0 && strcmp(n->op, "=") == 0) {
		set = n;
		n = n->next;
	}
	*a = (struct amendment){ .how = AMEND_REPLACE, .bug = x->bug, .at = *x };
	a->at.stmt = n;
	if (!n || !name || x->needs_fence || !idiom_flush_at(r, x->unit, x->file, n, &a->flush) ||
	    !a->flush.addr || a->flush.is_short)
		return false;
	if (!text_has_word(a->flush.addr, name) ||
	    !is_of_loop(r, x, loop, set, name, a->flush.addr, &array) ||
	    text_has_directive(x->file, loop->end, n->end))
		return false;
	if (stores_elsewhere(r, x, name, array) || is_touched_before(r, x, loop))
		return false;
	loop_leave(r, &whole);
	if (whole.stmt == loop && a->flush.len) { /* one flush covers all that the loop fills */
		a->how = AMEND_WIDEN;
		a->addr = whole.range.addr;
		a->len = emit_in_style(r, x->file, whole.range.len);
		return !set;
	}
	a->leaves_fence = a->flush.does & DOES_FENCE;
	a->needless = set && !is_used_behind(x->function, n, name) &&
				      node_is_repeatable(x->unit, set->last)
			      ? set
			      : NULL;
	idiom_find(r, x, &i);
	return (!a->leaves_fence || (i.fence.call && !i.fence.guard)) &&
	       (i.flush.call || i.line.call) && !i.needs_persist;
}
