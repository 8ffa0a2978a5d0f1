/* Finds an expression for the pool that can be evaluated before a transaction: a parameter or local
 * variable if possible, a variable of the file last. */
#include <string.h>

#include "repair/tx/internal.h"

/* Returns a pool that is a member of what a parameter points to, with the member's name as some
 * function of the file uses it; NULL: none. */
static const char *pool_of_parameter(struct repair *r, const struct tx *t)
{
	const struct source_function *f = t->x.function;

	for (size_t i = 0; i < t->x.unit->nfunctions; i++)
		for (const struct source_node *n = t->x.unit->functions[i].body; n;
		     n = node_next(n, t->x.unit->functions[i].body)) {
			if (n->kind != SOURCE_MEMBER || !type_is_pool(n->type) || !n->child ||
			    n->child->kind != SOURCE_NAME || !n->child->type)
				continue;
			for (size_t k = 0; k < f->nparameters; k++)
				if (f->parameters[k].type &&
				    strcmp(f->parameters[k].type, n->child->type) == 0)
					return text_format(r->code, "%s%s%s", f->parameters[k].name,
							   f->parameters[k].is_pointer ? "->" : ".",
							   n->name);
		}
	return NULL;
}

/* Returns a pool that the function knows before the transaction; NULL: none. */
static const char *pool_at_hand(struct repair *r, const struct tx *t)
{
	const struct source_function *f = t->x.function;

	for (size_t i = 0; i < f->nparameters; i++)
		if (type_is_pool(f->parameters[i].type))
			return f->parameters[i].name;
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if ((n->kind == SOURCE_VARIABLE || n->kind == SOURCE_NAME) && n->name &&
		    type_is_pool(n->type) && n->begin < t->first->begin) {
			for (const struct source_node *b = n; b; b = b->parent)
				if (b == t->block ||
				    (b->kind == SOURCE_COMPOUND && b->begin <= t->first->begin &&
				     t->last->end <= b->end))
					return n->name;
		}
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (n->kind == SOURCE_NAME && n->name && !n->is_local && type_is_pool(n->type))
			return n->name; /* a global variable that the function itself uses */
	return pool_of_parameter(r, t);
}

/* Returns a global variable of the file. It may be another pool's, so it is the last choice. */
static const char *pool_of_file(const struct tx *t)
{
	for (size_t i = 0; i < t->x.unit->nfunctions; i++)
		for (const struct source_node *n = t->x.unit->functions[i].body; n;
		     n = node_next(n, t->x.unit->functions[i].body))
			if (n->kind == SOURCE_NAME && n->name && !n->is_local &&
			    type_is_pool(n->type) &&
			    strcmp(t->x.unit->functions[i].file, t->x.function->file) == 0)
				return n->name;
	return NULL;
}

/* Returns a call that finds the pool by an address which the first statement logs:
 * pmemobj_pool_by_ptr(addr); NULL: that statement logs none. */
static const char *pool_by_address(struct repair *r, const struct tx *t)
{
	for (size_t i = 0; i < t->logs.n; i++)
		if (!t->logs.at[i].is_foreign && t->logs.at[i].stmt == t->first)
			return text_format(r->code, "pmemobj_pool_by_ptr(%s)", t->logs.at[i].addr);
	return NULL;
}

const char *tx_pool(struct repair *r, const struct tx *t)
{
	const char *pool = pool_at_hand(r, t);

	if (!pool)
		pool = pool_by_address(r, t);
	return pool ? pool : pool_of_file(t);
}
