/* Logs of a transaction, in the order of the text. One that another, which is always done before it, covers is not needed. */
#include <stdlib.h>
#include <string.h>

#include "repair/tx/internal.h"

/* The variable through which a store goes. */
const char *tx_base_of(const struct source_node *store)
{
	const struct source_node *place = store->kind == SOURCE_CALL && store->child ? store->child->next : store->child;

	for (const struct source_node *n = place; n; n = node_next(n, place))
		if (n->kind == SOURCE_NAME && n->name && n->is_local)
			return n->name;
	return NULL;
}

/* In a statement before it that is always done first, and nothing it depends on changes in between. */
static bool comes_before(const struct tx_log *a, const struct tx_log *b)
{
	const struct source_node *block = a->stmt->parent, *s = b->stmt;

	if (a->x.function == b->x.function && a->stmt == b->stmt)
		return true;
	if (a->x.function != b->x.function || a->stmt->begin > b->stmt->begin || !tx_is_still_open(a->x.unit, a->x.function, a->stmt, b->stmt) ||
	    text_has_directive(a->x.file, a->stmt->begin, b->stmt->begin))
		return false;
	while (s && s->parent != block)
		s = s->parent;
	if (!s || block->kind != SOURCE_COMPOUND)
		return false;
	for (const struct source_node *k = a->stmt; k != s; k = k->next)
		if (k->next->kind == SOURCE_LABEL)
			return false; /* one may come from elsewhere */
	for (const struct source_node *n = b->x.store->child; n && n != b->x.store; n = node_next(n, b->x.store))
		if (n->kind == SOURCE_NAME && n->name)
			for (const struct source_node *k = a->stmt; k && k != s->next; k = k->next)
				if (node_assigns(k, NULL, n->name))
					return false;
	return true;
}

/* Of the same object, "key[i]" is a part of "key". */
static bool is_part_of(const struct tx_log *whole, const struct tx_log *part)
{
	size_t len = whole->member ? strlen(whole->member) : 0;

	if (whole->lvalue && whole->lvalue[0] == '*' && whole->object && !whole->member)
		return part->object && part->member && !part->is_dot && strcmp(whole->object, part->object) == 0;
	return len > 0 && part->member && strcmp(whole->object, part->object) == 0 && strncmp(whole->member, part->member, len) == 0 &&
	       (part->member[len] == '[' || part->member[len] == '.');
}

bool tx_log_covers(const struct tx_log *a, const struct tx_log *b)
{
	bool is_same = (strcmp(a->addr, b->addr) == 0 && strcmp(a->len, b->len) == 0) || (a->text && b->text && strcmp(a->text, b->text) == 0);

	return (is_same || is_part_of(a, b)) && comes_before(a, b);
}

static void drop_duplicates(struct tx *t)
{
	for (size_t i = 0; i < t->logs.n; i++)
		for (size_t k = 0; k < t->logs.n && !t->logs.at[i].is_dropped; k++)
			if (k != i && !t->logs.at[k].is_dropped && tx_log_covers(&t->logs.at[k], &t->logs.at[i]) &&
			    (t->logs.at[k].stmt != t->logs.at[i].stmt || k < i || is_part_of(&t->logs.at[k], &t->logs.at[i])))
				t->logs.at[i].is_dropped = true;
}

static int by_place(const void *a, const void *b)
{
	const struct tx_log *x = a, *y = b;
	int files = strcmp(x->x.file->path, y->x.file->path);

	return files ? files : x->stmt->begin != y->stmt->begin ? (x->stmt->begin > y->stmt->begin) - (x->stmt->begin < y->stmt->begin) :
	       (x->x.store->begin > y->x.store->begin) - (x->x.store->begin < y->x.store->begin);
}

/* ---- loops ---- */

/* Is it the same memory each time? Only variables are asked, so nothing may be read on the way. */
static bool is_same_each_time(const struct tx_log *l, const struct source_node *loop)
{
	const char *from = l->handle ? l->handle : l->object;

	return l->lvalue && from && text_is_identifier(from) && !(l->member && strstr(l->member, "->")) && !tx_is_changed(loop, l->lvalue);
}

/* A loop over the elements of a member that is an array: the whole of it. False: it is none, or a large one. */
static bool take_array(struct repair *r, struct tx_log *l, const struct source_node *loop)
{
	struct tx_log whole = *l;

	if (!tx_log_take_array(r, &whole) || !is_same_each_time(&whole, loop))
		return false;
	*l = whole;
	return true;
}

/* The outermost loop around it that stores to the same again and again: it is logged once, before. */
static void leave_loops(struct repair *r, const struct tx *t, struct tx_log *l)
{
	for (const struct source_node *n = l->stmt->parent; n && n->parent; n = n->parent) {
		if (n->kind != SOURCE_FOR && n->kind != SOURCE_WHILE && n->kind != SOURCE_DO)
			continue;
		if (macro_use(l->x.unit, l->x.file->path, n) || !node_is_body(l->x.file, n) ||
		    (!l->is_foreign && !(t->is_there ? tx_is_in_work(l->x.unit, l->x.file, l->x.function, n) : tx_holds(t, n))) ||
		    (!is_same_each_time(l, n) && !take_array(r, l, n)))
			return;
		l->stmt = n;
	}
}

/* ---- as they are written ---- */

/* Does one of the two log another member of the same object, where the other one comes to? */
static bool is_beside(const struct tx_log *a, const struct tx_log *b)
{
	return a != b && !a->is_dropped && !b->is_dropped && a->object && b->object && a->member && b->member && strcmp(a->object, b->object) == 0 && strcmp(a->member, b->member) != 0 &&
	       !is_part_of(a, b) && !is_part_of(b, a) &&
	       (comes_before(a, b) || comes_before(b, a));
}

/* How its file logs; one that shows no way does it as that of the transaction does. */
static const struct tx_add_calls *shown_ways(struct repair *r, const struct tx *t, const struct tx_log *l)
{
	const struct tx_add_calls *own = tx_add_calls_of(r, l->x.unit, l->x.file);

	return own->list.n > 0 ? own : tx_add_calls_of(r, t->x.unit, t->x.file);
}

/* Is it, with the members that are logged beside it, all of an object that is not large? */
static bool is_all(const struct tx *t, const struct tx_log *l)
{
	uint64_t bytes = l->member_bytes;

	for (size_t i = 0; i < t->logs.n; i++) {
		bool is_new = is_beside(l, &t->logs.at[i]);

		for (size_t k = 0; is_new && k < i; k++)
			is_new = !is_beside(l, &t->logs.at[k]) || strcmp(t->logs.at[k].member, t->logs.at[i].member) != 0;
		bytes += is_new ? t->logs.at[i].member_bytes : 0;
	}
	return bytes > l->member_bytes && bytes == l->object_bytes && bytes <= TX_OBJECT_MAX_BYTES;
}

static void choose_forms(struct repair *r, struct tx *t)
{
	for (size_t i = 0; i < t->logs.n; i++) {
		struct tx_log *l = &t->logs.at[i];
		bool are_several = false;

		for (size_t k = 0; k < t->logs.n; k++)
			are_several |= is_beside(l, &t->logs.at[k]);
		if (!t->is_there || !tx_log_move(r, tx_add_calls_of(r, l->x.unit, l->x.file), l))
			l->text = tx_log_form(r, shown_ways(r, t, l), l, are_several, is_all(t, l));
		l->checked = t->is_there && !l->moved ? tx_log_checked(r, tx_add_calls_of(r, l->x.unit, l->x.file), l) : NULL;
	}
}

void tx_sort_logs(struct repair *r, struct tx *t)
{
	tx_log_take_given(r, t);
	for (size_t i = 0; i < t->logs.n; i++)
		leave_loops(r, t, &t->logs.at[i]);
	if (t->logs.n > 0)
		qsort(t->logs.at, t->logs.n, sizeof *t->logs.at, by_place);
	choose_forms(r, t);
	if (t->logs.n > 0)
		qsort(t->logs.at, t->logs.n, sizeof *t->logs.at, by_place); /* some have moved */
	drop_duplicates(t);
}
