/* Merges fixes: two flushes of the same bytes become one, and so do two fences if nothing in
 * between depends on an order. Statements between two merged fixes of a block may only compute,
 * copy and store. */
#include <stdlib.h>
#include <string.h>

#include "repair/durability/internal.h"

static int by_place(const void *a, const void *b)
{
	const struct fix *x = a, *y = b;
	int files = strcmp(x->file->path, y->file->path);

	if (files)
		return files;
	if (x->stmt->end != y->stmt->end)
		return x->stmt->end < y->stmt->end ? -1 : 1;
	if (x->store->begin != y->store->begin)
		return x->store->begin < y->store->begin ? -1 : 1;
	return x->bug < y->bug ? -1 : x->bug > y->bug;
}

/* The statement, mostly a macro, calls nothing but flushes. */
static bool only_flushes(struct repair *r, const struct source_unit *u,
			 const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		if (n->kind == SOURCE_ASM || n->kind == SOURCE_RETURN || n->kind == SOURCE_JUMP ||
		    n->kind == SOURCE_LABEL || n->kind == SOURCE_LAMBDA ||
		    (n->kind == SOURCE_STMT && n->child))
			return false;
		if (n->kind == SOURCE_CALL && idiom_call_does(r, u, n) != DOES_FLUSH &&
		    !(n->name && function_is_pure(u, n->name)))
			return false;
	}
	return true;
}

/* Asks whether nothing in the store depends on an order. For a call that copies, the arguments
 * decide. */
static bool is_calm_store(struct repair *r, const struct source_unit *u,
			  const struct source_node *store)
{
	if (store->kind != SOURCE_CALL)
		return node_is_calm(r->code, u, store);
	for (const struct source_node *n = store->child; n; n = n->next)
		if (!node_is_calm(r->code, u, n))
			return false;
	return true;
}

/* Asks whether the statement calls a callback that fills an object (callback.c). The callbacks that
 * ran there must not depend on an order. */
static bool is_calm_callback(struct repair *r, const struct fix *a, const struct source_node *stmt)
{
	const struct source_node *call = NULL;

	for (size_t i = 0; i < r->fixes.n && !call; i++)
		if (r->fixes.at[i].is_given && r->fixes.at[i].unit == a->unit &&
		    r->fixes.at[i].stmt == stmt)
			call = r->fixes.at[i].store;
	for (const struct source_node *n = call ? stmt : NULL; n; n = node_next(n, stmt))
		if (n->kind == SOURCE_CALL && n != call && !node_is_calm(r->code, a->unit, n))
			return false;
	return call && (stmt == call || node_is_assignment(stmt) || stmt->kind == SOURCE_DECL);
}

/* Asks whether a and b are in one block, and no statement behind a's, up to and including b's,
 * depends on an order. If b's statement is the store itself, a call, its arguments decide. */
static bool is_calm_between(struct repair *r, const struct fix *a, const struct fix *b)
{
	if (a->where != AFTER || b->where != AFTER || a->unit != b->unit || a->file != b->file)
		return false;
	if (a->stmt == b->stmt)
		return true; /* both fixes go behind the same statement */
	if (a->stmt->parent != b->stmt->parent || a->stmt->parent->kind != SOURCE_COMPOUND ||
	    text_has_directive(a->file, a->stmt->begin, b->stmt->begin))
		return false;
	for (const struct source_node *n = a->stmt->next; n; n = n->next) {
		if (node_publishes(r->code, a->unit, a->file, n))
			return false;
		if (!node_is_calm(r->code, a->unit, n) && !is_calm_callback(r, a, n) &&
		    !(n == b->stmt && !b->is_hoisted &&
		      ((n == b->store && is_calm_store(r, a->unit, n)) ||
		       (!b->needs_flush && only_flushes(r, a->unit, n)))))
			return false;
		if (n == b->stmt)
			return true;
	}
	return false;
}

/* Asks whether the two fixes have the same statement. A statement of a header has another node in
 * each unit that includes the header, so places are compared. */
static bool is_same_statement(const struct fix *a, const struct fix *b)
{
	return a->where == b->where && a->file == b->file && a->stmt->begin == b->stmt->begin &&
	       a->stmt->end == b->stmt->end &&
	       (a->where == AFTER || a->store->begin == b->store->begin);
}

static bool is_same_flush(const struct fix *a, const struct fix *b)
{
	return a->needs_flush == b->needs_flush &&
	       (!a->needs_flush || (strcmp(a->range.addr, b->range.addr) == 0 &&
				    strcmp(a->range.len, b->range.len) == 0));
}

/* Returns the name of the variable that n assigns (with_parts: or of which n assigns a part); NULL:
 * none. */
static const char *assigned_variable(const struct source_node *n, bool with_parts)
{
	const struct source_node *to = node_is_assignment(n) ? n->child : NULL;

	while (with_parts && to && to->kind == SOURCE_MEMBER && !to->is_arrow)
		to = to->child;
	return to && to->kind == SOURCE_NAME ? to->name : NULL;
}

/* Asks whether `name` is a variable, or a member of one, that no statement from a to b assigns. */
static bool is_kept(const struct fix *a, const struct fix *b, const char *name)
{
	size_t len = strcspn(name, ".");
	const char *to;

	if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") !=
	    strlen(name))
		return false;
	for (const struct source_node *s = a->stmt == b->stmt ? NULL : a->stmt->next; s;
	     s = s->next) {
		for (const struct source_node *n = s; n; n = node_next(n, s))
			if ((to = assigned_variable(n, name[len] == '.')) && strlen(to) == len &&
			    strncmp(to, name, len) == 0)
				return false;
		if (s == b->stmt)
			break;
	}
	return true;
}

/* Asks whether the file writes both flushes as one line of code: node_persist(n) flushes two
 * members of *n. */
static bool is_same_text(struct repair *r, const struct fix *a, const struct fix *b)
{
	const struct idiom_line *x, *y;
	struct idiom idiom;
	const char *why;

	/* A sync of the whole file has the same text for all stores, but without a sync in between,
	 * pages reach the file in any order. */
	if (r->options->is_page_cache)
		return false;
	if (!a->needs_flush || !b->needs_flush || !a->range.base || !b->range.base ||
	    strcmp(a->range.base, b->range.base) != 0 ||
	    !is_kept(a, b, a->range.base[0] == '&' ? a->range.base + 1 : a->range.base))
		return false;
	idiom_find(r, a, &idiom);
	x = idiom_lines(r, &idiom, &a->range, true, a->needs_fence, false, &why);
	idiom_find(r, b, &idiom);
	y = idiom_lines(r, &idiom, &b->range, true, a->needs_fence, false, &why);
	return x && y && strcmp(x[0].text, y[0].text) == 0;
}

/* Asks whether the file can flush such a store only line by line. */
static bool flushes_lines(struct repair *r, const struct fix *x)
{
	struct idiom i;

	idiom_find(r, x, &i);
	return i.line.call && (i.prefers_line || !i.flush.call) &&
	       !(i.persist.call && i.persist.uses > 0);
}

/* Asks whether the fixes are of two stores in a row in a template, where sizes are unknown. The
 * stores are taken to be to parts of one object. */
static bool is_dependent(const struct fix *a, const struct fix *b)
{
	return a->unit->is_cplusplus && !a->range.bytes && !b->range.bytes &&
	       !a->range.base_bytes && !b->range.base_bytes && a->range.thing && b->range.thing &&
	       (a->stmt == b->stmt || a->stmt->next == b->stmt);
}

/* Merges flushes of two members of an object of at most 64 bytes into one of the object, which
 * flushes no more lines. Also merges a flush of the object with one of the bytes directly behind
 * it. */
static bool merge_members(struct repair *r, struct fix *a, struct fix *b)
{
	const struct range *x = &a->range, *y = &b->range;
	const char *tail = y->tail ? y->tail : x->tail;
	bool is_one_line = x->base_bytes <= x->base_align_bytes && !tail;

	if (!a->needs_flush || !b->needs_flush || !x->base || !y->base ||
	    strcmp(x->base, y->base) != 0)
		return false;
	if ((!x->base_bytes && !is_dependent(a, b)) || x->base_bytes > 64 ||
	    !is_kept(a, b, x->base[0] == '&' ? x->base + 1 : x->base))
		return false;
	if (x->tail && ((y->tail && strcmp(x->tail, y->tail) != 0) || !is_kept(a, b, x->tail)))
		return false;
	if (!is_one_line && x->is_one_line && y->is_one_line && flushes_lines(r, b))
		return false; /* two flushes of a line are cheaper than a loop */
	b->range.addr = y->base;
	b->range.thing = y->base[0] == '&' ? y->base + 1 : NULL;
	b->range.thing_type = y->base_type;
	b->range.member = NULL;
	b->range.len = tail ? text_format(r->code, "%s + %s", y->base_len, tail) : y->base_len;
	b->range.tail = tail;
	b->range.is_one_line = is_one_line;
	return true;
}

static void take_base(struct range *x, bool is_one_line)
{
	x->addr = x->base;
	x->len = x->base_len;
	x->thing = x->base[0] == '&' ? x->base + 1 : NULL;
	x->thing_type = x->base_type;
	x->member = NULL;
	x->is_one_line = is_one_line;
}

/* Asks whether b stores to the same object as a, so that both flushes may become one flush of the
 * object. */
static bool is_of_object(struct repair *r, const struct fix *a, const struct fix *b)
{
	return !b->is_dropped && b->needs_flush && b->range.base && b->range.bytes &&
	       strcmp(a->range.base, b->range.base) == 0 && !b->fence_stmt && !b->range.tail &&
	       !(a->until && a->needs_fence && b->stmt->end > a->until->begin) &&
	       is_calm_between(r, a, b) &&
	       is_kept(a, b, a->range.base[0] == '&' ? a->range.base + 1 : a->range.base);
}

static bool is_same_member(const struct fix *a, const struct fix *b)
{
	return strcmp(a->range.addr, b->range.addr) == 0;
}

/* Merges the flushes of members of one object. If the members are at least half of an object of
 * several lines, the object is flushed once. That costs little more, and says what is meant. */
static void merge_object(struct repair *r, size_t first)
{
	const struct fix *a = &r->fixes.at[first];
	size_t last = first, nmembers = 0;
	uint64_t bytes = 0;
	bool *is_part;

	if (a->is_dropped || !a->needs_flush || !a->range.base || !a->range.bytes ||
	    a->range.base_bytes <= 64 || a->fence_stmt || a->range.tail)
		return;
	is_part = arena_alloc(&r->code->arena, r->fixes.n);
	for (size_t i = first; i < r->fixes.n; i++) {
		bool is_new;

		is_part[i] = is_new = i == first || is_of_object(r, a, &r->fixes.at[i]);
		for (size_t k = first; k < i && is_new; k++)
			is_new = !is_part[k] || !is_same_member(&r->fixes.at[k], &r->fixes.at[i]);
		nmembers += is_new;
		bytes += is_new ? r->fixes.at[i].range.bytes : 0;
		last = is_part[i] ? i : last;
	}
	if (nmembers < 2 || bytes * 2 < a->range.base_bytes)
		return;
	for (size_t i = first; i < last; i++) {
		struct fix *x = &r->fixes.at[i];

		if (!is_part[i])
			continue;
		group_join(r, x->bug, r->fixes.at[last].bug);
		r->fixes.at[last].needs_fence |= x->needs_fence;
		x->needs_fence = false;
		x->is_dropped = true;
	}
	take_base(&r->fixes.at[last].range, false);
}

/* Returns the longer of two lengths: "n" for "n" and "n - 1"; NULL: unknown. */
static const char *longer_of(const char *x, const char *y)
{
	size_t lenx = strlen(x), leny = strlen(y);

	if (lenx > leny)
		return longer_of(y, x);
	return text_is_postfix(x) && strncmp(x, y, lenx) == 0 && strncmp(y + lenx, " - ", 3) == 0 &&
			       !strpbrk(y + lenx + 3, "+-*/%<>?:&|^,")
		       ? x
		       : NULL;
}

/* Merges two flushes that begin at the same address, as after memset(p, 0, n); strncpy(p, s, n -
 * 1); */
static bool merge_lengths(struct fix *a, struct fix *b)
{
	const char *longer;

	if (!a->needs_flush || !b->needs_flush || a->stmt->next != b->stmt ||
	    strcmp(a->range.addr, b->range.addr) != 0)
		return false;
	longer = longer_of(a->range.len, b->range.len);
	if (!longer)
		return false;
	b->range.len = longer;
	b->range.is_one_line = false;
	return true;
}

/* Moves the second fix behind its `if`, to merge it with the first: p->a = 1; if (c) p->b = 2;
 * False: b is under no `if` that follows a. */
static bool leave_branch(const struct fix *a, const struct fix *b, struct fix *outer)
{
	const struct source_node *s = b->stmt;

	if (a->where != AFTER || b->where != AFTER || b->fence_stmt || a->fence_stmt ||
	    !a->stmt->parent || a->file != b->file)
		return false;
	while (s && s->parent != a->stmt->parent && s->parent &&
	       (s->parent->kind == SOURCE_COMPOUND ||
		(s->parent->kind == SOURCE_IF && s != s->parent->child)))
		s = s->parent;
	if (!s || s == b->stmt || s->kind != SOURCE_IF || s->parent != a->stmt->parent)
		return false;
	*outer = *b;
	outer->stmt = s;
	return true;
}

static bool merge_branch(struct repair *r, struct fix *a, struct fix *b)
{
	struct fix outer;

	if (!leave_branch(a, b, &outer) || !is_calm_between(r, a, &outer) ||
	    !(is_same_flush(a, b) || merge_members(r, a, &outer)))
		return false;
	*b = outer;
	return true;
}

static void merge(struct repair *r, struct fix *a, struct fix *b)
{
	if (a->until && a->needs_fence &&
	    (b->fence_stmt ? b->fence_stmt : b->stmt)->end > a->until->begin &&
	    !is_same_statement(a, b))
		return; /* a's fence would come too late */
	if (is_same_statement(a, b) && is_same_flush(a, b)) {
		a->is_dropped = true;
	} else if (is_calm_between(r, a, b)) {
		if (is_same_flush(a, b) && a->needs_flush &&
		    (!a->range.names || a->stmt->next == b->stmt))
			a->is_dropped = true;
		else if (is_same_text(r, a, b) || merge_members(r, a, b) || merge_lengths(a, b))
			a->is_dropped = true;
		else if (!a->needs_fence || !(b->needs_fence || b->needs_flush) || a->fence_stmt ||
			 b->fence_stmt)
			return;
	} else if (merge_branch(r, a, b)) {
		a->is_dropped = true;
	} else {
		return;
	}
	group_join(r, a->bug, b->bug);
	b->needs_fence |= a->needs_fence;
	a->needs_fence = false;
	a->is_dropped |= !a->needs_flush;
}

/* Asks whether the next statement fences, with nothing in between. */
static bool is_before_fence(struct repair *r, const struct fix *x)
{
	const struct source_node *next =
		x->where == AFTER && x->stmt->parent && x->stmt->parent->kind == SOURCE_COMPOUND
			? x->stmt->next
			: NULL;
	const struct source_use *use = next ? macro_use(x->unit, x->file->path, next) : NULL;
	struct idiom i;
	const char *flush;
	unsigned does = 0;

	if (!next || text_has_directive(x->file, x->stmt->begin, next->begin))
		return false;
	if (use)
		does = idiom_macro_does(r, x->unit, use->name);
	else if (next->kind == SOURCE_CALL)
		does = idiom_call_does(r, x->unit, next);
	else if (next->kind == SOURCE_ASM && !idiom_asm(x->unit, next, &does, &flush))
		does = 0;
	if (does == DOES_FENCE)
		return true;
	idiom_find(r, x, &i);
	/* if the file flushes and fences in one call each time, so does this fix */
	return does == (DOES_FLUSH | DOES_FENCE) && i.flush.uses + i.line.uses > 0;
}

void reduce_fixes(struct repair *r)
{
	if (r->fixes.n)
		qsort(r->fixes.at, r->fixes.n, sizeof r->fixes.at[0], by_place);
	for (size_t i = 0; i < r->fixes.n; i++)
		merge_object(r, i);
	for (size_t i = 0; i < r->fixes.n; i++) {
		for (size_t k = i + 1; k < r->fixes.n && !r->fixes.at[i].is_dropped; k++)
			if (!r->fixes.at[k].is_dropped)
				merge(r, &r->fixes.at[i], &r->fixes.at[k]);
	}
	for (size_t i = 0; i < r->fixes.n; i++) {
		struct fix *x = &r->fixes.at[i];

		if (!x->is_dropped && x->needs_flush && x->needs_fence && !x->fence_stmt &&
		    is_before_fence(r, x))
			x->needs_fence = false; /* two fences in a row are one too many */
	}
}
