/* Recognises helpers: calls, macros and functions whose purpose is to flush or fence. */
#include <string.h>

#include "repair/idiom/internal.h"

unsigned idiom_call_does_far(struct repair *r, const struct source_unit *u,
			     const struct source_node *call)
{
	const struct source_unit *in = u;
	size_t nunits = r->code->units.n;

	if (call->name && !idiom_known(call->name) && !run_callee(r, &in, call))
		for (size_t i = 0; i < u->nfunctions; i++)
			if (!u->functions[i].is_system &&
			    strcmp(u->functions[i].name, call->name) == 0) {
				way_of_declared(r, u, &u->functions[i]);
				break;
			}
	if (r->code->units.n > nunits)
		memo_forget(r);
	return idiom_call_does(r, u, call);
}

static bool is_plain(struct repair *r, const struct source_unit *u, const struct source_function *f,
		     int depth)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		const struct source_unit *in = u;
		const struct source_function *callee;

		if ((n->kind == SOURCE_NAME && !n->is_local &&
		     !(n->parent->kind == SOURCE_CALL && n == n->parent->child)) ||
		    n->kind == SOURCE_LAMBDA || n->kind == SOURCE_IF)
			return false;
		if (n->kind != SOURCE_CALL || (n->name && idiom_known(n->name)))
			continue;
		callee = n->name && depth < 4 ? run_callee(r, &in, n) : NULL;
		if (!callee || !is_plain(r, in, callee, depth + 1))
			return false;
	}
	return f->body != NULL;
}

bool idiom_is_plain(struct repair *r, const struct source_unit *u, const struct source_function *f)
{
	return f && is_plain(r, u, f, 0);
}

/* Asks whether the function's purpose is to flush or fence, and it does not just do so among other
 * things. */
bool idiom_is_helper(struct repair *r, const struct source_unit *u, const struct source_function *f)
{
	unsigned does = f->body ? idiom_function_does_all(r, u, f) : 0;

	if (!f->body || does & DOES_STORE || !(does & (DOES_FLUSH | DOES_FENCE)))
		return false;
	return idiom_name(f->name) || way_of_function(r, u, f)->unit != WAY_NONE ||
	       scope_is_part(r, u, f);
}

unsigned idiom_macro_does(struct repair *r, const struct source_unit *u, const char *name)
{
	for (size_t i = u->nmacros; i-- > 0;)
		if (strcmp(u->macros[i].name, name) == 0) {
			struct way w = u->macros[i].is_system ? (struct way){ .unit = WAY_NONE }
							      : way_of_macro(r, u, &u->macros[i], 0,
									     way_of_declared);

			/* a macro may do it under a condition of its own */
			return w.unit == WAY_NONE ? 0 : w.does;
		}
	return 0;
}

unsigned idiom_macro_ends(struct repair *r, const struct source_unit *u, const char *name)
{
	return way_macro_ends(r, u, name, way_of_declared);
}
