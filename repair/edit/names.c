/* Makes an index of all parsed units: where functions are defined and used, sorted by name. */
#include <stdlib.h>
#include <string.h>

#include "repair/edit/internal.h"

static int by_name(const void *a, const void *b)
{
	const struct use *x = a, *y = b;
	int names = strcmp(x->name, y->name);

	if (names)
		return names;
	names = strcmp(x->in->file, y->in->file);
	if (names)
		return names;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static void add_function(struct codebase *code, struct source_unit *u,
			 const struct source_function *f)
{
	*vec_add(&code->uses) = (struct use){ .name = f->name, .unit = u, .in = f, .at = f->begin };
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (n->kind == SOURCE_NAME && n->name && !n->is_local)
			*vec_add(&code->uses) = (struct use){
				.name = n->name, .unit = u, .in = f, .node = n, .at = n->begin
			};
}

static void refresh(struct codebase *code)
{
	if (code->nunits_indexed == code->units.n)
		return;
	code->uses.n = 0;
	for (size_t i = 0; i < code->units.n; i++)
		for (size_t k = 0; k < code->units.at[i]->nfunctions; k++)
			if (code->units.at[i]->functions[k].body)
				add_function(code, code->units.at[i],
					     &code->units.at[i]->functions[k]);
	if (code->uses.n)
		qsort(code->uses.at, code->uses.n, sizeof code->uses.at[0], by_name);
	code->nunits_indexed = code->units.n;
}

const struct use *names_find(struct codebase *code, const char *name, size_t *n)
{
	size_t low = 0, high;

	refresh(code);
	for (high = code->uses.n; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(code->uses.at[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (*n = 0; low + *n < code->uses.n && strcmp(code->uses.at[low + *n].name, name) == 0;)
		++*n;
	return code->uses.at + low;
}

const struct source_function *function_defined(struct codebase *code, struct source_unit **u,
					       const char *name)
{
	const struct source_function *found = NULL;
	struct source_unit *in = *u;
	size_t n;
	const struct use *uses = names_find(code, name, &n);

	for (size_t i = 0; i < n; i++)
		if (!uses[i].node && (uses[i].unit == *u || (!found && !uses[i].in->is_static))) {
			found = uses[i].in;
			in = uses[i].unit;
			if (in == *u)
				break;
		}
	*u = in;
	return found;
}

const struct source_node *use_call(const struct source_node *name)
{
	const struct source_node *n = name;

	while (n->parent && n->parent->kind == SOURCE_EXPR && n->parent->child == n)
		n = n->parent;
	return n->parent && n->parent->kind == SOURCE_CALL && n->parent->child == n ? n->parent
										    : NULL;
}
