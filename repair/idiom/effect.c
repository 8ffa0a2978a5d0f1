/* Decides exactly what one call, or one use of a macro, flushes: which argument is the address and
 * which the length. This is for proofs: a helper that is known only by its name, or that also
 * stores, has no known effect. */
#include <string.h>

#include "repair/idiom/internal.h"

static const struct source_node *argument(const struct source_node *call, int i)
{
	const struct source_node *a = call->child ? call->child->next : NULL;

	while (a && i-- > 0)
		a = a->next;
	return a;
}

/* Returns the outermost node, below the use of a macro, whose text is this argument. */
static const struct source_node *macro_argument(const struct file *f, const struct source_node *top,
						const char *text)
{
	size_t len = strlen(text);

	for (const struct source_node *n = node_next(top, top); n; n = node_next(n, top))
		if (!node_is_statement(n) && n->text_end - n->text_begin == len &&
		    n->text_end <= f->len_bytes && strncmp(f->text + n->text_begin, text, len) == 0)
			return n;
	return NULL;
}

static bool has_unit(struct idiom_effect *e, const struct way *w)
{
	e->does = w->does;
	switch (w->unit) {
	case WAY_FENCE: return w->does == DOES_FENCE;
	case WAY_RANGE: return e->addr && e->len;
	case WAY_LINE: e->is_line = true; return e->addr != NULL;
	case WAY_OBJECT:
	case WAY_POINTEE:
		e->len_bytes = e->addr ? e->addr->target_bytes : 0;
		return e->len_bytes > 0;
	case WAY_THING:
		e->len_bytes = e->addr ? e->addr->size_bytes : 0;
		e->is_thing = true;
		return e->len_bytes > 0 && !w->is_line;
	case WAY_NONE:
	case WAY_LINES:
	case WAY_BOUNDS:
	case WAY_MEMBER: return false;
	}
	return false;
}

static bool is_constant(const struct file *f, const struct source_node *n)
{
	size_t len = n->end - n->begin;

	return n->has_value || (len == 4 && strncmp(f->text + n->begin, "true", 4) == 0) ||
	       (len == 5 && strncmp(f->text + n->begin, "false", 5) == 0);
}

/* Asks whether what the call flushes may depend on an argument that is neither address nor length:
 * an integer that is no constant, or one that the function tests. */
static bool depends_on_argument(const struct file *f, const struct source_function *callee,
				const struct source_node *call, const struct way *w)
{
	for (int i = 0; i < (int)callee->nparameters; i++)
		if (i != w->addr && i != w->len && callee->parameters[i].is_integer &&
		    (!argument(call, i) || !is_constant(f, argument(call, i))))
			return true;
	for (const struct source_node *n = callee->body; n; n = node_next(n, callee->body)) {
		const struct source_node *test = n->kind == SOURCE_IF ||
								 n->kind == SOURCE_CONDITIONAL ||
								 n->kind == SOURCE_SWITCH
							 ? n->child
							 : NULL;

		for (const struct source_node *m = test; m; m = node_next(m, test))
			for (size_t i = 0; m->kind == SOURCE_NAME && m->is_local && m->name &&
					   i < callee->nparameters;
			     i++) {
				const struct source_node *a = argument(call, (int)i);

				if ((int)i != w->addr && (int)i != w->len &&
				    callee->parameters[i].name &&
				    strcmp(callee->parameters[i].name, m->name) == 0 &&
				    (!a || !is_constant(f, a)))
					return true;
			}
	}
	return false;
}

static bool call_effect(struct repair *r, const struct source_unit *u, const struct file *f,
			const struct source_node *call, struct idiom_effect *e)
{
	const struct source_unit *in = u;
	const struct source_function *callee = NULL;
	struct way w;

	if (!call->name || !call->child)
		return false;
	if (!idiom_known(call->name)) {
		idiom_call_does_far(r, u, call);
		callee = run_callee(r, &in, call);
		if (!callee || !callee->body || idiom_function_does_all(r, in, callee) & DOES_STORE)
			return false;
	} else if (strcmp(call->name, "pmem_msync") == 0 || strcmp(call->name, "msync") == 0 ||
		   strncmp(call->name, "pmem_deep_", 10) == 0) {
		return false; /* these do more than write lines back */
	}
	w = way_of_call(r, u, f, call, NULL);
	if (w.unit == WAY_NONE || (callee && depends_on_argument(f, callee, call, &w)))
		return false;
	e->addr = w.addr >= 0 ? argument(call, w.addr) : NULL;
	e->len = w.len >= 0 ? argument(call, w.len) : NULL;
	return has_unit(e, &w);
}

/* Asks whether some node of the macro's use may store (an operator that the macro hides counts), or
 * is unknown assembly. */
static bool does_more(const struct source_unit *u, const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		unsigned does;
		const char *flush;

		if (node_may_assign(n) && n->child && n->child->kind != SOURCE_NAME &&
		    !node_is_own_variable(n->child))
			return true;
		/* the node has no text for assembly of a macro inside a macro; then the macro's
		 * text decides */
		if (n->kind == SOURCE_ASM && n->name && strstr(n->name, "asm") &&
		    !idiom_asm(u, n, &does, &flush))
			return true;
	}
	return false;
}

static bool macro_effect(struct repair *r, const struct source_unit *u, const struct file *f,
			 const struct source_node *n, struct idiom_effect *e)
{
	const struct source_use *use = macro_use(u, f->path, n);
	const struct source_macro *m = NULL;
	const char **args;
	size_t nargs = 0;
	struct way w;

	if (!use || use->begin != n->begin || does_more(u, n))
		return false;
	for (size_t i = u->nmacros; !m && i-- > 0;)
		if (!u->macros[i].is_system && strcmp(u->macros[i].name, use->name) == 0)
			m = &u->macros[i];
	args = m ? text_arguments(r->code, f, use->begin, use->end) : NULL;
	while (args && args[nargs])
		nargs++;
	if (!m)
		return false;
	w = way_of_macro(r, u, m, 0, way_of_declared);
	if ((w.addr >= 0 && (size_t)w.addr >= nargs) || (w.len >= 0 && (size_t)w.len >= nargs))
		return false;
	e->addr = w.unit != WAY_FENCE && w.addr >= 0 ? macro_argument(f, n, args[w.addr]) : NULL;
	e->len = w.unit != WAY_FENCE && w.len >= 0 ? macro_argument(f, n, args[w.len]) : NULL;
	return has_unit(e, &w);
}

bool idiom_effect(struct repair *r, const struct source_unit *u, const struct file *f,
		  const struct source_node *n, struct idiom_effect *e)
{
	*e = (struct idiom_effect){ 0 };
	if (n->kind == SOURCE_CALL && !macro_use(u, f->path, n))
		return call_effect(r, u, f, n, e);
	return macro_effect(r, u, f, n, e) ||
	       (n->kind == SOURCE_CALL && call_effect(r, u, f, n, e));
}

bool idiom_scope_effect(struct repair *r, const struct source_unit *u, const struct file *f,
			const struct source_node *declaration, struct idiom_effect *e)
{
	struct scope_text t;
	struct way w = way_of_scope(r, u, f, declaration, &t);
	int n = 0;

	*e = (struct idiom_effect){ 0 };
	while (w.unit != WAY_NONE && t.args[n] && t.args[n][0])
		n++;
	if (w.unit == WAY_NONE || w.addr >= n || w.len >= n)
		return false;
	e->addr = macro_argument(f, declaration, t.args[w.addr]);
	e->len = w.len >= 0 ? macro_argument(f, declaration, t.args[w.len]) : NULL;
	return has_unit(e, &w);
}
