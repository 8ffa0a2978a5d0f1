/* Decides whether a name means the same at two places of the code: parameters and variables by
 * their names, members of the same class, and anything that is not local. */
#include <string.h>

#include "repair/idiom/internal.h"

/* Asks whether a variable that is used in a block is also known at the place: the place is in the
 * same block, or in one inside of it. */
static bool is_known_at(const struct source_node *use, const struct source_node *place)
{
	const struct source_node *block = use;

	while (block && block->kind != SOURCE_COMPOUND)
		block = block->parent;
	for (; place; place = place->parent)
		if (place == block)
			return true;
	return false;
}

/* Returns the only global pool that functions before this one use; NULL: they use none, or
 * several. */
static const char *global_pool(const struct fix *x)
{
	const char *found = NULL;

	for (size_t i = 0; i < x->unit->nfunctions; i++) {
		const struct source_function *f = &x->unit->functions[i];

		if (!f->body || f->begin >= x->function->begin ||
		    strcmp(f->file, x->file->path) != 0)
			continue;
		for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
			if (n->kind != SOURCE_NAME || n->is_local || !n->name ||
			    !type_is_pool(n->type))
				continue;
			if (found && strcmp(found, n->name) != 0)
				return NULL;
			found = n->name;
		}
	}
	return found;
}

/* Returns a pool that is a member of what a parameter points to, with the member's name as some
 * function of the file uses it: "p->pop". */
static const char *pool_of_parameter(struct repair *r, const struct fix *x)
{
	const struct source_function *f = x->function;

	for (size_t i = 0; i < x->unit->nfunctions; i++)
		for (const struct source_node *n = x->unit->functions[i].body; n;
		     n = node_next(n, x->unit->functions[i].body)) {
			if (n->kind != SOURCE_MEMBER || !type_is_pool(n->type) || !n->child ||
			    n->child->kind != SOURCE_NAME || !n->child->type)
				continue;
			for (size_t k = 0; k < f->nparameters; k++)
				if (f->parameters[k].name && f->parameters[k].type &&
				    strcmp(f->parameters[k].type, n->child->type) == 0)
					return text_format(r->code, "%s%s%s", f->parameters[k].name,
							   f->parameters[k].is_pointer ? "->" : ".",
							   n->name);
		}
	return NULL;
}

const char *pool_name(struct repair *r, const struct fix *x)
{
	for (size_t i = 0; i < x->function->nparameters; i++)
		if (type_is_pool(x->function->parameters[i].type))
			return x->function->parameters[i].name;
	for (const struct source_node *n = x->function->body; n;
	     n = node_next(n, x->function->body))
		if (n->kind == SOURCE_NAME && n->name && type_is_pool(n->type) &&
		    n->begin < x->store->begin && is_known_at(n, x->store))
			return n->name;
	return pool_of_parameter(r, x) ? pool_of_parameter(r, x) : global_pool(x);
}

static bool local_is_known(const char *name, const struct fix *x)
{
	for (size_t i = 0; i < x->function->nparameters; i++)
		if (x->function->parameters[i].name &&
		    strcmp(x->function->parameters[i].name, name) == 0)
			return true;
	for (const struct source_node *n = x->function->body; n;
	     n = node_next(n, x->function->body))
		if (n->kind == SOURCE_NAME && n->is_local && n->name &&
		    strcmp(n->name, name) == 0 && n->begin < x->store->begin &&
		    is_known_at(n, x->store))
			return true;
	return false;
}

static bool is_same_class(const struct source_function *a, const struct source_function *b)
{
	return a->is_method && b->is_method && a->scope && b->scope &&
	       strcmp(a->scope, b->scope) == 0;
}

bool names_are_known(const struct source_node *top, const struct source_function *in,
		     const struct fix *x)
{
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		if (n->kind == SOURCE_NAME && n->is_local && n->name && !local_is_known(n->name, x))
			return false;
		if (n->kind == SOURCE_MEMBER && !n->child && !is_same_class(in, x->function))
			return false;
		if (n->kind == SOURCE_EXPR && !n->child && n->end - n->begin == 4 &&
		    strncmp(x->file->text + n->begin, "this", 4) == 0 &&
		    !is_same_class(in, x->function))
			return false;
	}
	return true;
}

/* Asks whether the argument can be used for another store, too: it is a number, a name or a member.
 * A computed value may belong to one store. */
static bool is_plain(const struct source_node *n)
{
	while (n->kind == SOURCE_EXPR && n->child && n->child == n->last)
		n = n->child;
	if (n->kind == SOURCE_MEMBER && n->child)
		return is_plain(n->child);
	return n->has_value || n->kind == SOURCE_LITERAL || n->kind == SOURCE_NAME ||
	       n->kind == SOURCE_MEMBER || (n->kind == SOURCE_EXPR && !n->child);
}

bool example_is_known(const struct pattern *p, const struct fix *x)
{
	int i = 0;

	if (p->object)
		return names_are_known(p->object, p->in, x);
	if (!p->example || p->is_library || p->macro)
		return true;
	if (p->way.addr != WAY_THIS && p->example->child &&
	    !names_are_known(p->example->child, p->in, x))
		return false;
	for (const struct source_node *a = p->example->child ? p->example->child->next : NULL; a;
	     a = a->next, i++) {
		bool is_pool = p->function && (size_t)i < p->function->nparameters &&
			       type_is_pool(p->function->parameters[i].type);

		if (i != p->way.addr && i != p->way.len && !is_pool &&
		    (!is_plain(a) || !names_are_known(a, p->in, x)))
			return false;
	}
	return true;
}

/* Asks whether the function can be called where the fix is. Functions are in the order of their
 * declarations, those of headers where the header is included. A class knows all its methods. */
bool function_is_visible(const struct source_function *f, const struct fix *x)
{
	if (is_same_class(f, x->function))
		return true;
	for (const struct source_function *g = x->unit->functions;
	     g < x->unit->functions + x->unit->nfunctions; g++) {
		if (g == f || strcmp(g->name, f->name) == 0)
			return true;
		if (g == x->function)
			return false;
	}
	return false;
}
