/* Finds the parameter through which a function reaches the object that it stores to. In p->a[i].b =
 * 1 and in q = &p->head; q->n = 1 that is p. Members, elements and the function's own pointers are
 * followed. A pointer that is loaded from memory is not: no argument of a call says where it
 * points. */
#include <string.h>

#include "repair/durability/internal.h"

enum { STEPS_MAX = 6 };

static int pointer_root(const struct source_function *f, const struct source_node *n,
			unsigned steps);

static int object_root(const struct source_function *f, const struct source_node *n, unsigned steps)
{
	while (n && n->kind == SOURCE_EXPR && n->child && n->child == n->last)
		n = n->child;
	if (!n || !n->child)
		return -1;
	if (n->kind == SOURCE_UNARY && n->op[0] == '*')
		return pointer_root(f, n->child, steps);
	if (n->kind == SOURCE_MEMBER)
		return n->is_arrow ? pointer_root(f, n->child, steps)
				   : object_root(f, n->child, steps);
	if (n->kind == SOURCE_SUBSCRIPT)
		return n->child->is_array ? object_root(f, n->child, steps)
					  : pointer_root(f, n->child, steps);
	return -1;
}

/* Follows a pointer variable of the function: returns the number of the parameter from which its
 * value comes; -1: none. */
static int variable_root(const struct source_function *f, const char *name, unsigned steps)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		const struct source_node *value = NULL;
		int root;

		if (n->kind == SOURCE_VARIABLE && n->name && strcmp(n->name, name) == 0)
			value = n->last;
		else if (n->kind == SOURCE_BINARY && strcmp(n->op, "=") == 0 && n->child &&
			 n->child->kind == SOURCE_NAME && n->child->name &&
			 strcmp(n->child->name, name) == 0)
			value = n->last;
		root = value ? pointer_root(f, value, steps + 1) : -1;
		if (root >= 0)
			return root;
	}
	return -1;
}

static int pointer_root(const struct source_function *f, const struct source_node *n,
			unsigned steps)
{
	int root;

	while (n && n->kind == SOURCE_EXPR && n->child && n->child == n->last)
		n = n->child;
	if (!n || steps > STEPS_MAX)
		return -1;
	if (n->kind == SOURCE_NAME && n->name && n->is_local) {
		for (size_t i = 0; i < f->nparameters; i++)
			if (f->parameters[i].is_pointer && f->parameters[i].name &&
			    strcmp(f->parameters[i].name, n->name) == 0)
				return (int)i;
		return variable_root(f, n->name, steps);
	}
	if (n->is_array)
		return object_root(f, n, steps);
	if (n->kind == SOURCE_UNARY && n->child)
		return n->op[0] == '&'      ? object_root(f, n->child, steps)
		       : strchr(n->op, 'x') ? pointer_root(f, n->child, steps)
					    : -1;
	if (n->kind != SOURCE_BINARY || !n->child || (n->op[0] != '+' && n->op[0] != '-'))
		return -1;
	root = pointer_root(f, n->child, steps);
	return root >= 0 ? root : pointer_root(f, n->last, steps);
}

int parameter_of_pointer(const struct source_function *f, const struct source_node *pointer)
{
	return pointer ? pointer_root(f, pointer, 0) : -1;
}

int parameter_of_store(struct repair *r, const struct fix *x)
{
	const struct source_node *store = x->store, *object = atomic_object(store);
	int to;

	if (store->kind != SOURCE_CALL || object)
		return object_root(x->function, object ? object : store->child, 0);
	to = call_writes_to(x->unit, store);
	if (to < 0)
		to = callee_stores_to(r->code, x->unit, store);
	return to >= 0 ? parameter_of_pointer(x->function, call_argument(store, to)) : -1;
}
