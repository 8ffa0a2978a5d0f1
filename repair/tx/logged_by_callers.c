/* Finds out whether the callers of a function log what it stores to an object that they pass. If
 * some caller logs those bytes before the call, or has just allocated the object, then the log is
 * the callers' job. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/internal.h"

enum { DEPTH_MAX = 2 };

/* Asks whether the two expressions contain the same variable. */
static bool share_a_name(const char *a, const char *b, struct codebase *code)
{
	while (*a) {
		size_t len = 0;
		const char *word;

		while (isalnum((unsigned char)a[len]) || a[len] == '_')
			len++;
		word = text_copy(code, a, len);
		if (len > 0 && strncmp(word, "D_R", 3) != 0 && text_has_word(b, word))
			return true;
		a += len ? len : 1;
	}
	return false;
}

/* Returns the member that the call logs; NULL: it logs a whole object. */
static const char *member_logged(const struct tx_add_call *c, struct codebase *code)
{
	const char *text = c->how.form == FORM_FIELD || c->how.form == FORM_MEMBER
				   ? c->args[c->how.second]
				   : c->args[c->how.first],
		   *arrow = text, *last = NULL;
	size_t len = 0;

	if (tx_add_call_is_whole(c))
		return NULL;
	while ((arrow = strstr(arrow, "->")))
		last = arrow += 2;
	text = last ? last : text;
	while (isalnum((unsigned char)text[len]) || text[len] == '_')
		len++;
	return text_copy(code, text, len);
}

/* Asks whether the function, or one that it calls, stores to a member of that name. */
static bool stores_member(const struct source_unit *u, const struct source_function *f,
			  const char *name, unsigned depth)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		const struct source_node *to = node_is_assignment(n) ? n->child : NULL;
		const struct source_function *callee =
			n->kind == SOURCE_CALL && n->name && depth > 0 ? function_named(u, n->name)
								       : NULL;

		while (to && (to->kind == SOURCE_SUBSCRIPT || to->kind == SOURCE_EXPR))
			to = to->child;
		if ((to && to->kind == SOURCE_MEMBER && to->name && strcmp(to->name, name) == 0) ||
		    (callee && callee != f && stores_member(u, callee, name, depth - 1)))
			return true;
	}
	return false;
}

/* Asks whether the caller itself stores through what it passes. Then its log may be for that. */
static bool stores_itself(struct repair *r, const struct file *f, const struct source_function *in,
			  const char *what)
{
	for (const struct source_node *n = in->body; n; n = node_next(n, in->body))
		if (node_is_assignment(n) && n->child && n->child->kind != SOURCE_NAME &&
		    share_a_name(what, text_of(r->code, f, n->child), r->code))
			return true;
	return false;
}

/* Asks whether the log is for what the called function will store. */
static bool is_for(struct repair *r, const struct tx_add_call *c, const struct use *use,
		   const struct file *f, const struct source_function *callee, const char *what)
{
	const char *member = member_logged(c, r->code);

	return share_a_name(what, c->args[c->how.first], r->code) &&
	       (member ? stores_member(use->unit, callee, member, DEPTH_MAX)
		       : !stores_itself(r, f, use->in, what));
}

/* Returns what the call passes. For a pointer that was made of a handle, returns the pointer's
 * declaration, which contains the handle. */
static const char *passed(struct repair *r, const struct file *f, const struct source_function *in,
			  const struct source_node *call, size_t parameter)
{
	const char **args = text_arguments(r->code, f, call->text_begin, call->text_end);
	size_t n = 0;

	while (args && args[n])
		n++;
	if (n <= parameter)
		return "";
	for (const struct source_node *v = in->body; v && text_is_identifier(args[parameter]);
	     v = node_next(v, in->body))
		if (v->kind == SOURCE_VARIABLE && v->name && strcmp(v->name, args[parameter]) == 0)
			return text_of(r->code, f, v);
	return args[parameter];
}

static bool allocates(const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (n->kind == SOURCE_CALL && n->name &&
		    ((strncmp(n->name, "pmemobj_tx_", 11) == 0 && strstr(n->name, "alloc")) ||
		     strcmp(n->name, "make_persistent") == 0))
			return true;
	return false;
}

bool tx_is_new(const struct source_function *in, const char *what)
{
	for (const struct source_node *n = in->body; n; n = node_next(n, in->body)) {
		const char *name =
			n->kind == SOURCE_VARIABLE ? n->name
			: node_is_assignment(n) && n->child && n->child->kind == SOURCE_NAME
				? n->child->name
				: NULL;

		if (name && text_has_word(what, name) && allocates(n))
			return true;
	}
	return false;
}

static int parameter_named(const struct source_function *f, const char *name)
{
	for (size_t i = 0; name && i < f->nparameters; i++)
		if (f->parameters[i].name && strcmp(f->parameters[i].name, name) == 0)
			return (int)i;
	return -1;
}

static bool is_logged_by_callers(struct repair *r, const struct source_function *f, int parameter,
				 unsigned depth);

/* Asks whether the object is logged before the call: in the calling function, or in turn by the
 * callers of that function. */
static bool is_logged_before(struct repair *r, const struct use *use,
			     const struct source_node *call, const struct source_function *callee,
			     int parameter, unsigned depth)
{
	struct file *f = file_open(r->code, use->in->file);
	const struct tx_add_calls *all = f ? tx_add_calls_of(r, use->unit, f) : NULL;
	const char *what = f ? passed(r, f, use->in, call, (size_t)parameter) : "";
	int outer = parameter_named(use->in, what);

	if (tx_is_new(use->in, what))
		return true;
	for (size_t i = 0; all && i < all->list.n; i++)
		if (use->in->begin <= all->list.at[i].begin && all->list.at[i].end <= call->begin &&
		    is_for(r, &all->list.at[i], use, f, callee, what))
			return true;
	return outer >= 0 && depth > 0 && is_logged_by_callers(r, use->in, outer, depth - 1);
}

static bool is_logged_by_callers(struct repair *r, const struct source_function *f, int parameter,
				 unsigned depth)
{
	size_t n;
	const struct use *uses = names_find(r->code, f->name, &n);

	for (size_t i = 0; i < n; i++) {
		const struct source_node *call = uses[i].node ? uses[i].node->parent : NULL;

		if (call && call->kind == SOURCE_CALL && call->child == uses[i].node &&
		    is_logged_before(r, &uses[i], call, f, parameter, depth))
			return true;
	}
	return false;
}

bool tx_is_logged_by_callers(struct repair *r, const struct tx_log *l)
{
	int parameter = parameter_named(l->x.function, l->handle ? l->handle : l->object);

	return parameter >= 0 && is_logged_by_callers(r, l->x.function, parameter, DEPTH_MAX);
}
