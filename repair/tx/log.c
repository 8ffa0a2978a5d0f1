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

/* The same text, in a statement before it that is always done first, and nothing it depends on changes in between. */
bool tx_log_covers(const struct tx_log *a, const struct tx_log *b)
{
	const struct source_node *block = a->stmt->parent, *s = b->stmt;

	if (a->x.function != b->x.function || strcmp(a->addr, b->addr) != 0 || strcmp(a->len, b->len) != 0 || a->stmt->begin > b->stmt->begin ||
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

static void drop_duplicates(struct tx *t)
{
	for (size_t i = 0; i < t->logs.n; i++)
		for (size_t k = 0; k < t->logs.n && !t->logs.at[i].is_dropped; k++)
			if (k != i && !t->logs.at[k].is_dropped && tx_log_covers(&t->logs.at[k], &t->logs.at[i]) &&
			    (t->logs.at[k].stmt != t->logs.at[i].stmt || k < i))
				t->logs.at[i].is_dropped = true;
}

static int by_place(const void *a, const void *b)
{
	const struct tx_log *x = a, *y = b;
	int files = strcmp(x->x.file->path, y->x.file->path);

	return files ? files : x->stmt->begin != y->stmt->begin ? (x->stmt->begin > y->stmt->begin) - (x->stmt->begin < y->stmt->begin) :
	       (x->x.store->begin > y->x.store->begin) - (x->x.store->begin < y->x.store->begin);
}

void tx_sort_logs(struct tx *t)
{
	if (t->logs.n > 0)
		qsort(t->logs.at, t->logs.n, sizeof *t->logs.at, by_place);
	drop_duplicates(t);
}
