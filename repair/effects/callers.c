/* Finds the callers of a function, by its name or as a method, in all files that contain its name.
 * Also tells whether its address is used, so that others may call it through a pointer. */
#include <string.h>

#include "repair/effects/flow.h"

void callers_open(struct repair *r, const struct source_function *f)
{
	const char *why;

	for (size_t i = 0; !f->is_static && i < r->code->db->n; i++) {
		const struct file *in = file_open(r->code, r->code->db->files[i]);

		if (in && strstr(in->text, f->name))
			unit_open(r->code, r->code->db->files[i], &why);
	}
}

static void add_caller(struct callers *c, const struct source_unit *u,
		       const struct source_function *in)
{
	for (size_t i = 0; i < c->n; i++)
		if (function_is_same(c->of[i], in))
			return;
	c->are_more |= c->n == CALLERS_MAX;
	if (c->are_more)
		return;
	c->units[c->n] = u;
	c->of[c->n++] = in;
}

static bool calls(struct repair *r, const struct source_unit *u, const struct source_function *in,
		  const struct source_function *f)
{
	for (const struct source_node *n = in->body; n; n = node_next(n, in->body)) {
		const struct source_unit *defined = u;
		const struct source_function *callee =
			n->kind == SOURCE_CALL && n->name && strcmp(n->name, f->name) == 0
				? run_callee(r, &defined, n)
				: NULL;

		if (n->kind != SOURCE_CALL || !n->name || strcmp(n->name, f->name) != 0)
			continue;
		callee = callee ? callee : run_method(r, &defined, n);
		if (callee && function_is_same(callee, f))
			return true;
	}
	return false;
}

void callers_find(struct repair *r, const struct source_function *f, struct callers *c)
{
	for (size_t i = 0; i < r->code->units.n; i++) {
		const struct source_unit *u = r->code->units.at[i];

		for (size_t k = 0; k < u->nfunctions; k++)
			if (u->functions[k].body && !function_is_same(&u->functions[k], f) &&
			    calls(r, u, &u->functions[k], f))
				add_caller(c, u, &u->functions[k]);
	}
}

bool function_is_passed_on(struct repair *r, const struct source_function *f)
{
	size_t n;
	const struct use *uses = names_find(r->code, f->name, &n);

	for (size_t i = 0; i < n; i++)
		if (uses[i].node && !use_call(uses[i].node))
			return true;
	return false;
}
