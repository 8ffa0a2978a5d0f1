/* Drops logs of memory that the transaction itself allocates: an abort frees that memory. Variables
 * that stand for it are followed from the allocation on, as long as that is certain. */
#include <string.h>

#include "repair/tx/internal.h"

/* Asks whether, at this offset, the variable stands for new memory. */
static bool is_allocated(const struct tx *t, const char *name, uint32_t at)
{
	for (size_t i = 0; i < t->allocated.n; i++)
		if (strcmp(t->allocated.at[i].name, name) == 0 && t->allocated.at[i].at <= at)
			return true;
	return false;
}

/* Counts how often `what` is in the text. It is used to count the pointers that an expression
 * follows. */
static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
		n++;
	return n;
}

static const struct source_node *first_name(const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (n->kind == SOURCE_NAME && n->name && n->is_local)
			return n;
	return NULL;
}

/* Asks whether the expression is the pointer of a handle, or a pointer variable, and not loaded
 * through another pointer. */
static bool is_pointer_to(const struct tx *t, const struct source_node *n)
{
	const struct source_use *use = macro_use(t->x.unit, t->x.file->path, n);

	if (use && use->begin == n->begin && use->end == n->end)
		return strcmp(use->name, "D_RW") == 0 || strcmp(use->name, "D_RO") == 0 ||
		       strcmp(use->name, "DIRECT_RW") == 0;
	while (n->kind == SOURCE_EXPR && n->last)
		n = n->last; /* casts */
	return n->kind == SOURCE_NAME ||
	       (n->kind == SOURCE_CALL && n->name && strncmp(n->name, "pmemobj_direct", 14) == 0);
}

/* Returns the value that a declaration or assignment gives to a variable, whose name is *name;
 * NULL: none. */
static const struct source_node *value_given(const struct source_node *n, const char **name)
{
	if (n->kind == SOURCE_VARIABLE) {
		*name = n->name;
		return n->last && n->last->kind != SOURCE_STMT && n->last->begin > n->begin
			       ? n->last
			       : NULL;
	}
	*name = node_is_assignment(n) && n->child && n->child->kind == SOURCE_NAME ? n->child->name
										   : NULL;
	return *name ? n->child->next : NULL;
}

static bool is_null(const struct tx *t, const struct source_node *value)
{
	static const char *const words[] = { "OID_NULL", "TOID_NULL", "NULL", "nullptr", "0" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strncmp(t->x.file->text + value->text_begin, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

/* Asks whether the function assigns something else to the variable, too. The value `but` does not
 * count, nor does NULL. */
bool tx_is_ambiguous(const struct tx *t, const char *name, const struct source_node *but)
{
	const struct source_node *body = t->x.function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body)) {
		const char *to = NULL;
		const struct source_node *value = value_given(n, &to);

		if (to && value && value != but && strcmp(to, name) == 0 && !is_null(t, value))
			return true;
	}
	return false;
}

/* Adds variables that point to new memory: T *p = D_RW(handle). */
void tx_follow_pointers(struct tx *t)
{
	const struct source_node *body = t->x.function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body)) {
		const char *to = NULL;
		const struct source_node *from = tx_holds(t, n) ? value_given(n, &to) : NULL, *name;

		if (!to || !from || !is_pointer_to(t, from))
			continue;
		name = first_name(from);
		if (name && is_allocated(t, name->name, n->begin) && !tx_is_ambiguous(t, to, from))
			*vec_add(&t->allocated) = (struct tx_new){ to, n->end };
	}
}

/* Drops the logs of memory that the transaction allocates. */
void tx_drop_allocated(struct repair *r, struct tx *t)
{
	tx_follow_pointers(t);
	for (size_t i = 0; i < t->logs.n; i++) {
		struct tx_log *l = &t->logs.at[i];
		const struct tx_callee *c = l->is_foreign ? tx_callee_find(r, l->x.function) : NULL;
		const struct tx *in = c ? c->inner : l->is_foreign ? NULL : t;
		const struct source_node *name =
			in && l->x.store->child ? first_name(l->x.store->child) : NULL;

		if (name && is_allocated(in, name->name, l->stmt->begin) &&
		    count(l->addr, "->") + count(l->addr, "[") <= 1 && count(l->addr, "D_RW(") <= 1)
			l->is_dropped = true;
		for (size_t k = 0; c && c->inner && k < c->inner->logs.n; k++)
			l->is_dropped |= tx_log_covers(&c->inner->logs.at[k], l);
	}
}
