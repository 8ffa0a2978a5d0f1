/* Moves a log out of a function that stores through its parameters and is also called outside of
 * transactions. The arguments of the transaction's own call say what is stored, so the log goes
 * before that call, and the function stays as it is. */
#include <string.h>

#include "repair/tx/internal.h"

static bool is_parameter(const struct source_function *f, const char *name)
{
	for (size_t i = 0; i < f->nparameters; i++)
		if (f->parameters[i].name && strcmp(f->parameters[i].name, name) == 0)
			return true;
	return false;
}

/* Asks whether the expression depends only on parameters that are never assigned. */
static bool is_about_parameters(const struct tx_log *l)
{
	const struct source_function *f = l->x.function;

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (((n->kind == SOURCE_NAME && n->is_local) || n->kind == SOURCE_VARIABLE) &&
		    n->name && text_has_word(l->lvalue, n->name) &&
		    (!is_parameter(f, n->name) || node_assigns(f->body, NULL, n->name)))
			return false;
	return true;
}

/* Asks whether the stored place is one step from a parameter. Anything that is read further on
 * might be changed by the function before it stores. */
static bool is_one_step(const struct tx_log *l)
{
	const char *from = l->handle ? l->handle : l->object;

	return from && text_is_identifier(from) && !(l->member && strstr(l->member, "->"));
}

/* Returns a simpler text: "x" for "*(&x)", and "x.a" for "(&x)->a". */
static const char *simplified(struct repair *r, const char *text)
{
	const char *open = strstr(text, "(&"), *close = NULL, *inner;
	int depth = 0;

	for (const char *p = open; p && *p && !close; p++) {
		depth += (*p == '(') - (*p == ')');
		close = depth == 0 ? p : NULL;
	}
	if (!close)
		return text;
	inner = text_copy(r->code, open + 2, (size_t)(close - open - 2));
	if (!text_is_postfix(inner))
		return text;
	if (open == text + 1 && text[0] == '*' && !close[1])
		return inner;
	if (open == text && strncmp(close + 1, "->", 2) == 0)
		return text_format(r->code, "%s.%s", inner, close + 3);
	return text;
}

static const char *in_terms_of(struct repair *r, const struct source_function *f,
			       const char *const *args, const char *text)
{
	const char *names[16], *values[16];
	size_t n = 0;

	for (; n < f->nparameters && n < 16 && args[n]; n++) {
		names[n] = f->parameters[n].name ? f->parameters[n].name : "";
		values[n] = text_wrapped(r->code, args[n]);
	}
	return simplified(r, text_substitute(r->code, text, false, names, values, n));
}

/* Returns the texts of the call's arguments, if those that the log needs can be evaluated before
 * the call; NULL: they cannot. */
static const char **arguments_of(struct repair *r, const struct tx_log *l, const struct fix *caller,
				 const struct source_node *call)
{
	size_t i = 0;

	if (!is_one_step(l) || !is_about_parameters(l))
		return NULL;
	for (const struct source_node *a = call->child ? call->child->next : NULL;
	     a && i < l->x.function->nparameters; a = a->next, i++)
		if (l->x.function->parameters[i].name &&
		    text_has_word(l->lvalue, l->x.function->parameters[i].name) &&
		    !node_is_repeatable(caller->unit, a))
			return NULL;
	return text_arguments(r->code, caller->file, call->text_begin, call->text_end);
}

/* ---- the object that the call passes ---- */

/* Returns the number of the parameter through which the function stores, if the parameter's object
 * is small enough to be logged whole; -1: none. */
static int parameter_of(const struct tx_log *l)
{
	const struct source_function *f = l->x.function;
	const char *name = l->object && !l->is_dot && text_is_identifier(l->object)
				   ? l->object
				   : tx_pointer_of(l->x.store);

	for (size_t i = 0; name && i < f->nparameters; i++)
		if (f->parameters[i].name && strcmp(f->parameters[i].name, name) == 0 &&
		    f->parameters[i].target_bytes > 1 &&
		    f->parameters[i].target_bytes <= TX_OBJECT_MAX_BYTES &&
		    !node_assigns(f->body, NULL, name))
			return (int)i;
	return -1;
}

/* Asks whether the call passes, for this parameter, a pointer to an object of the size that the
 * parameter's object has. */
static bool passes_object(const struct source_node *call, const struct source_function *f,
			  int parameter)
{
	const struct source_node *a = call->child ? call->child->next : NULL;

	for (int i = 0; a && i < parameter; i++)
		a = a->next;
	return a && a->target_bytes == f->parameters[parameter].target_bytes;
}

void tx_log_take_given(struct repair *r, struct tx *t)
{
	for (size_t i = 0; i < t->logs.n; i++)
		for (size_t k = 0; k < t->logs.n; k++) {
			struct tx_log *a = &t->logs.at[i], *b = &t->logs.at[k];

			if (a->x.store != b->x.store || !a->given || !b->given ||
			    strcmp(a->given, b->given) != 0 || strcmp(a->lvalue, b->lvalue) == 0)
				continue;
			tx_set_range(r, a, a->given);
			tx_set_range(r, b, b->given);
			tx_log_split(r, a);
			tx_log_split(r, b);
		}
}

bool tx_log_outward(struct repair *r, const struct tx_log *l, const struct repair_place *p,
		    size_t outer, struct tx_log *out)
{
	struct fix caller = { 0 };
	struct tx_log from = *l;
	int parameter = parameter_of(l);
	const char *why, **args,
		*object = parameter >= 0 ? text_format(r->code, "*%s",
						       l->x.function->parameters[parameter].name)
					 : NULL;
	const struct source_node *call =
		l->lvalue || object ? call_of_frame(r, &caller, p, outer, l->x.function->name, &why)
				    : NULL;

	args = call && l->lvalue ? arguments_of(r, &from, &caller, call) : NULL;
	/* only the function knows which element it stores to */
	if (call && !args && tx_log_take_array(r, &from))
		args = arguments_of(r, &from, &caller, call);
	if (object && (!call || !passes_object(call, l->x.function, parameter)))
		object = NULL;
	if (object && !args) { /* only the function knows which part it stores to */
		tx_set_range(r, &from, object);
		tx_log_split(r, &from);
		from.array_bytes = 0;
		args = arguments_of(r, &from, &caller, call);
	}
	if (!args)
		return false;
	*out = (struct tx_log){ .x = caller, .array_bytes = from.array_bytes };
	out->x.store = call;
	out->stmt = tx_statement(caller.function, caller.file, p->frames[outer].line,
				 p->frames[outer].column);
	if (!out->stmt || tx_is_conditional(caller.file, out->stmt, call))
		return false;
	tx_set_range(r, out, in_terms_of(r, l->x.function, args, from.lvalue));
	tx_log_split(r, out);
	out->given = object ? in_terms_of(r, l->x.function, args, object) : NULL;
	return true;
}
