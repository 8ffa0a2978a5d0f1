/* Writes a log in the way in which the file writes others: of a field or of the object, by handle
 * or by pointer, with a function of its own. If the file shows no way, and uses TX_BEGIN, the log
 * uses libpmemobj's macros, otherwise its functions. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "repair/tx/internal.h"

/* ---- parts of the stored expression ---- */

/* Returns the last "->" or "." outside of brackets; NULL: none. */
static const char *last_step(const char *text, bool *is_dot)
{
	const char *found = NULL;
	int depth = 0;

	for (const char *p = text; *p; p++) {
		depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
		if (depth == 0 && p[0] == '-' && p[1] == '>') {
			found = p;
			*is_dot = false;
		}
		if (depth == 0 && *p == '.' && !found) {
			found = p;
			*is_dot = true;
		}
	}
	return found;
}

/* Returns the handle in the text: "o" for "D_RW(o)"; NULL: another form. */
static const char *handle_in(struct repair *r, const char *text)
{
	static const char *const words[] = { "D_RW(", "DIRECT_RW(", "D_RO(" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t len = strlen(words[i]), end = strlen(text);
		int depth = 1;

		if (strncmp(text, words[i], len) != 0 || text[end - 1] != ')')
			continue;
		for (const char *p = text + len; p < text + end - 1; p++) {
			depth += (*p == '(') - (*p == ')');
			if (depth == 0)
				return NULL;
		}
		return text_copy(r->code, text + len, end - 1 - len);
	}
	return NULL;
}

void tx_log_split(struct repair *r, struct tx_log *l)
{
	const char *step, *object;

	l->object = l->member = l->handle = NULL;
	if (!l->lvalue)
		return;
	step = l->lvalue[0] == '*' ? NULL : last_step(l->lvalue, &l->is_dot);
	if (!step) {
		l->object = l->lvalue[0] == '*' && text_is_postfix(l->lvalue + 1) ? l->lvalue + 1
										  : NULL;
		return;
	}
	object = text_copy(r->code, l->lvalue, (size_t)(step - l->lvalue));
	l->object = l->is_dot ? text_format(r->code, "&%s", object) : object;
	l->member = step + (l->is_dot ? 1 : 2);
	l->handle = l->is_dot ? NULL : handle_in(r, object);
}

bool tx_log_take_array(struct repair *r, struct tx_log *l)
{
	const char *open = l->lvalue ? strrchr(l->lvalue, '[') : NULL;

	if (!open || l->array_bytes == 0 || l->array_bytes > TX_ARRAY_MAX_BYTES ||
	    l->lvalue[strlen(l->lvalue) - 1] != ']' ||
	    memchr(l->lvalue, '[', (size_t)(open - l->lvalue)))
		return false;
	tx_set_range(r, l, text_copy(r->code, l->lvalue, (size_t)(open - l->lvalue)));
	l->addr = l->lvalue; /* an array's name is its address */
	l->array_bytes = 0;
	tx_log_split(r, l);
	return true;
}

/* ---- an untyped handle ---- */

/* Returns the declaration of the log's pointer, if it is the result of pmemobj_direct() and never
 * changed; NULL: it is not. */
static const struct source_node *direct_of(const struct tx_log *l)
{
	const struct source_node *body = l->x.function->body;

	if (!l->object || l->handle || l->is_dot || !text_is_identifier(l->object) ||
	    node_assigns(body, NULL, l->object))
		return NULL;
	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->kind == SOURCE_VARIABLE && n->name && strcmp(n->name, l->object) == 0)
			for (const struct source_node *c = n; c; c = node_next(c, n))
				if (c->kind == SOURCE_CALL && c->name &&
				    strncmp(c->name, "pmemobj_direct", 14) == 0)
					return n;
	return NULL;
}

const char *tx_log_oid(struct repair *r, const struct tx_log *l)
{
	const struct source_node *v = direct_of(l), *call = v;
	const char **args;

	while (call && call->kind != SOURCE_CALL)
		call = node_next(call, v);
	args = call ? text_arguments(r->code, l->x.file, call->text_begin, call->text_end) : NULL;
	return args && args[0] && text_is_identifier(args[0]) &&
			       !node_assigns(l->x.function->body, NULL, args[0])
		       ? args[0]
		       : NULL;
}

/* Returns the type to which the log's pointer points: "struct record" for "struct record *". */
static const char *target_type(struct repair *r, const struct tx_log *l)
{
	const struct source_node *v = direct_of(l);
	const char *star = v && v->type ? strchr(v->type, '*') : NULL;
	size_t len = star ? (size_t)(star - v->type) : 0;

	while (len > 0 && v->type[len - 1] == ' ')
		len--;
	return len ? text_copy(r->code, v->type, len) : NULL;
}

/* ---- writing one call ---- */

static const char *sizeof_text(struct repair *r, const char *what, bool is_bare)
{
	return text_format(r->code, is_bare ? "sizeof %s" : "sizeof(%s)", what);
}

/* Fills in the arguments of a call of this form; false: this form cannot log this range. */
static bool arguments_of(struct repair *r, const struct tx_log *l, enum tx_form form, bool is_whole,
			 bool is_bare, const char *args[3])
{
	const char *object = l->object, *oid;

	args[0] = args[1] = args[2] = NULL;
	if (is_whole && !object)
		return false;
	switch (form) {
	case FORM_OBJECT: args[0] = is_whole ? l->handle : NULL; return args[0];
	case FORM_FIELD:
		args[0] = is_whole ? NULL : l->handle;
		args[1] = l->member;
		return args[0];
	case FORM_MEMBER:
		args[0] = object;
		args[1] = l->member;
		return !is_whole && object && l->member && !l->is_dot;
	case FORM_POINTER:
		args[0] = is_whole || (l->lvalue && l->lvalue[0] == '*' && object) ? object
			  : l->lvalue ? text_format(r->code, "&%s", l->lvalue)
				      : NULL;
		return args[0] && (is_whole || text_is_postfix(l->lvalue) || args[0] == object);
	case FORM_LVALUE:
		args[0] = is_whole ? text_format(r->code, "*%s", object) : l->lvalue;
		return args[0];
	case FORM_RANGE:
		args[0] = is_whole ? object : l->addr;
		args[1] = is_whole ? sizeof_text(r, text_format(r->code, "*%s", object), is_bare)
			  : is_bare && l->lvalue && text_is_postfix(l->lvalue) &&
					  strncmp(l->len, "sizeof(", 7) == 0
				  ? sizeof_text(r, l->lvalue, true)
				  : l->len;
		return true;
	case FORM_HANDLE:
		oid = tx_log_oid(r, l);
		args[0] = oid;
		args[1] = is_whole ? "0"
			  : l->member && target_type(r, l)
				  ? text_format(r->code, "offsetof(%s, %s)", target_type(r, l),
						l->member)
				  : NULL;
		args[2] = sizeof_text(r,
				      is_whole    ? text_format(r->code, "*%s", object)
				      : l->lvalue ? l->lvalue
						  : "",
				      is_bare);
		return oid && args[1] && l->lvalue;
	}
	return false;
}

static size_t count_arguments(enum tx_form form)
{
	return form == FORM_HANDLE                                               ? 3
	       : form == FORM_FIELD || form == FORM_MEMBER || form == FORM_RANGE ? 2
										 : 1;
}

/* Returns a call of a function that has further arguments. These are copied from the existing
 * call. */
static const char *call_with_more(struct repair *r, const struct tx_add_call *c, const char *what)
{
	const char *text = text_format(r->code, "%s(", c->callee);

	for (size_t i = 0; i < c->nargs; i++)
		text = text_format(r->code, "%s%s%s", text, i ? ", " : "",
				   i == c->how.first ? what : c->args[i]);
	return text_format(r->code, "%s)", text);
}

static const char *call_text(struct repair *r, const struct tx_add_call *c, const char *const *args)
{
	const struct tx_how *how = &c->how;
	const char *callee = c->callee;
	size_t n = count_arguments(how->form);

	if (c->once)
		return call_with_more(r, c, args[0]);
	if (n == 1)
		return text_format(r->code, "%s(%s)", callee, args[0]);
	if (n == 3)
		return text_format(r->code, "%s(%s, %s, %s)", callee, args[0], args[1], args[2]);
	return text_format(r->code, "%s(%s, %s)", callee, args[how->first > how->second],
			   args[how->first < how->second]);
}

/* ---- choosing among the file's calls ---- */

static bool is_in(const struct source_function *f, const struct tx_add_call *c)
{
	return f->begin <= c->begin && c->end <= f->end;
}

/* Returns the type of a local variable or parameter; NULL: unknown. */
static const char *type_of(const struct source_function *f, const char *name)
{
	for (size_t i = 0; i < f->nparameters; i++)
		if (f->parameters[i].name && strcmp(f->parameters[i].name, name) == 0)
			return f->parameters[i].type;
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (n->kind == SOURCE_VARIABLE && n->name && strcmp(n->name, name) == 0)
			return n->type;
	return NULL;
}

static bool calls(const struct source_function *f, const char *name)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (n->kind == SOURCE_CALL && n->name && strcmp(n->name, name) == 0)
			return true;
	return false;
}

/* Asks whether the called function, which remembers what it has logged in a transaction, is used by
 * this transaction: here, or in a function that calls this one. */
static bool is_in_use(const struct tx_log *l, const struct tx_add_calls *all,
		      const struct tx_add_call *c)
{
	for (size_t i = 0; i < l->x.unit->nfunctions; i++) {
		const struct source_function *f = &l->x.unit->functions[i];

		for (size_t k = 0;
		     f->body && strcmp(f->file, all->file->path) == 0 && k < all->list.n; k++)
			if (all->list.at[k].once == c->once && is_in(f, &all->list.at[k]) &&
			    (f == l->x.function || calls(f, l->x.function->name)))
				return true;
	}
	return false;
}

/* Asks whether all arguments of the existing call exist here under the same names and types. */
static bool is_callable_with_more(const struct tx_log *l, const struct tx_add_calls *all,
				  const struct tx_add_call *c)
{
	const char *what = l->handle && c->how.form == FORM_OBJECT ? l->handle : l->object;

	for (size_t i = 0; i < c->nargs; i++) {
		const char *name = i == c->how.first ? what : c->args[i],
			   *type = name && text_is_identifier(name) ? type_of(l->x.function, name)
								    : NULL;

		if (!type || i >= c->once->nparameters || !c->once->parameters[i].type ||
		    strcmp(type, c->once->parameters[i].type) != 0)
			return false;
	}
	return all->file == l->x.file && !function_is_same(c->once, l->x.function) &&
	       is_in_use(l, all, c);
}

/* Asks whether the existing call can be written here, too. A call through an object needs the
 * object, which another function may not have. */
static bool is_callable(const struct tx_log *l, const struct tx_add_calls *all,
			const struct tx_add_call *c)
{
	bool is_of_file = all->file == l->x.file;

	if (c->once)
		return is_callable_with_more(l, all, c);
	return c->nargs == count_arguments(c->how.form) && (is_of_file || !c->is_own) &&
	       ((is_of_file && is_in(l->x.function, c)) || !strpbrk(c->callee, ".>"));
}

static bool is_bare_sizeof(const struct tx_add_calls *all)
{
	size_t n = 0, nbare = 0;

	for (size_t i = 0; i < all->list.n; i++)
		for (size_t k = 0; k < all->list.at[i].nargs; k++) {
			n += strncmp(all->list.at[i].args[k], "sizeof", 6) == 0;
			nbare += strncmp(all->list.at[i].args[k], "sizeof ", 7) == 0;
		}
	return nbare * 2 > n;
}

static size_t count_like(const struct tx_add_calls *all, const struct tx_add_call *c)
{
	size_t n = 0;

	for (size_t i = 0; i < all->list.n; i++)
		n += strcmp(all->list.at[i].callee, c->callee) == 0;
	return n;
}

/* Scores a call; more is better. Most important is that the file logs so, next that a handle's
 * object is logged by its handle, next that several fields are logged as one object. */
static size_t score(const struct tx_log *l, const struct tx_add_calls *all,
		    const struct tx_add_call *c, bool is_whole, bool are_several, bool is_all)
{
	bool is_alike = tx_add_call_is_whole(c) == is_whole ||
			(l->lvalue && l->lvalue[0] == '*' && !are_several);
	size_t n = count_like(all, c);

	return (size_t)(1 +
			8 * (l->handle &&
			     (c->how.form == FORM_FIELD || c->how.form == FORM_OBJECT)) +
			8 * (is_all && is_whole) + 16 * (c->once && is_whole) + 4 * is_alike +
			2 * (is_whole == are_several)) *
		       10000 +
	       1000 * is_in(l->x.function, c) + (n < 999 ? n : 999);
}

static const char *text_by_default(struct repair *r, const struct tx_log *l, bool has_macros,
				   bool is_all)
{
	if (is_all && l->handle && l->member)
		return text_format(r->code, "TX_ADD(%s)", l->handle);
	if (is_all && has_macros && l->object && l->member && !l->is_dot)
		return text_format(r->code, "TX_ADD_DIRECT(%s)", l->object);
	if (l->handle && l->member)
		return text_format(r->code, "TX_ADD_FIELD(%s, %s)", l->handle, l->member);
	if (has_macros && l->lvalue && l->object && l->member && !l->is_dot)
		return text_format(r->code, "TX_ADD_FIELD_DIRECT(%s, %s)", l->object, l->member);
	if (has_macros && l->lvalue && l->object && !l->member)
		return text_format(r->code, "TX_ADD_DIRECT(%s)", l->object);
	if (has_macros && l->lvalue && text_is_postfix(l->lvalue))
		return text_format(r->code, "TX_ADD_DIRECT(&%s)", l->lvalue);
	return text_format(r->code, "pmemobj_tx_add_range_direct(%s, %s)", l->addr, l->len);
}

static bool uses_macros(const struct tx_log *l)
{
	for (size_t i = 0; i < l->x.unit->nuses; i++)
		if (strcmp(l->x.unit->uses[i].name, "TX_BEGIN") == 0 &&
		    strcmp(l->x.unit->uses[i].file, l->x.file->path) == 0)
			return true;
	return false;
}

/* Asks whether the object is too large to be logged for one field. */
static bool is_large(const struct tx_log *l)
{
	const struct source_node *place = l->x.store->child;

	while (place && place->kind == SOURCE_EXPR && place->child == place->last)
		place = place->child;
	return place && place->kind == SOURCE_MEMBER && place->child &&
	       place->child->target_bytes > TX_OBJECT_MAX_BYTES;
}

/* Returns the handle from which the pointer was made, if the function uses the handle for its logs;
 * NULL: none. */
static const char *handle_behind(struct repair *r, const struct tx_add_calls *all,
				 const struct tx_log *l)
{
	const struct source_node *body = l->x.function->body;
	const char *equals = NULL, *handle;

	if (l->handle || l->is_dot || !l->object || !text_is_identifier(l->object) ||
	    node_assigns(body, NULL, l->object))
		return l->handle;
	for (const struct source_node *n = body; n && !equals; n = node_next(n, body))
		if (n->kind == SOURCE_VARIABLE && n->name && strcmp(n->name, l->object) == 0)
			equals = strchr(text_of(r->code, l->x.file, n), '=');
	handle = equals ? handle_in(r, equals + 1 + strspn(equals + 1, " \t")) : NULL;
	if (!handle || !text_is_identifier(handle) || node_assigns(body, NULL, handle))
		return NULL;
	for (size_t i = 0; i < all->list.n; i++)
		if (is_in(l->x.function, &all->list.at[i]) &&
		    (all->list.at[i].how.form == FORM_FIELD ||
		     all->list.at[i].how.form == FORM_OBJECT) &&
		    strcmp(all->list.at[i].args[0], handle) == 0)
			return handle;
	return NULL;
}

const char *tx_log_form(struct repair *r, const struct tx_add_calls *all, const struct tx_log *log,
			bool are_several, bool is_all, bool *is_whole)
{
	const char *best = NULL, *args[3];
	const struct tx_log by = { .x = log->x,
				   .addr = log->addr,
				   .len = log->len,
				   .lvalue = log->lvalue,
				   .object = log->object,
				   .member = log->member,
				   .handle = handle_behind(r, all, log),
				   .is_dot = log->is_dot },
			    *l = &by;
	size_t most = 0;

	*is_whole = is_all;
	for (size_t i = 0; i < all->list.n; i++)
		for (int whole = 0; whole < 2; whole++) {
			const struct tx_add_call *c = &all->list.at[i];

			if (!is_callable(l, all, c) || (c->once && !whole) ||
			    (whole && is_large(l)) || (whole && !l->member) ||
			    !arguments_of(r, l, c->how.form, whole, is_bare_sizeof(all), args) ||
			    score(l, all, c, whole, are_several, is_all) <= most)
				continue;
			most = score(l, all, c, whole, are_several, is_all);
			best = call_text(r, c, args);
			*is_whole = whole;
		}
	/* libpmemobj has a way to log an object, even if the file does not show it */
	if (is_all && !*is_whole && uses_macros(l)) {
		*is_whole = true;
		return text_by_default(r, l, true, true);
	}
	return best ? best : text_by_default(r, l, uses_macros(l), is_all);
}
