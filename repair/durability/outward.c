/* Moves a flush to the caller of the function that stores, without a copy of the function. The
 * stored bytes are those to which a parameter points, so the call's arguments say which they are:
 * set(&t->n) stores to *p, so its caller flushes &t->n. Impossible if the function does anything
 * after the store whose order could matter, or stores only under a condition, which the caller does
 * not know. */
#include <string.h>

#include "repair/durability/internal.h"

/* Asks whether the function does nothing after the store whose order could matter. */
static bool is_last_action(const struct source_function *f, const struct source_node *store)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		if (n->begin > store->begin &&
		    (n->kind == SOURCE_ASM || (n->kind == SOURCE_CALL && n->end > store->end)))
			return false;
		if (n->kind == SOURCE_FOR || n->kind == SOURCE_WHILE || n->kind == SOURCE_DO)
			return false;
	}
	return true;
}

/* Asks whether one of the three statements behind the call flushes. */
bool call_is_flushed_after(struct repair *r, const struct source_unit *u,
			   const struct source_node *call)
{
	const struct source_node *s = call;
	unsigned near = 3;

	while (s->parent && s->parent->kind != SOURCE_COMPOUND)
		s = s->parent;
	for (s = s->next; s && near > 0; s = s->next, near--)
		for (const struct source_node *n = s; n; n = node_next(n, s))
			if (n->kind == SOURCE_CALL &&
			    (idiom_call_does(r, u, n) & (DOES_FLUSH | DOES_STORE)) == DOES_FLUSH)
				return true;
	return false;
}

static bool arguments_are_repeatable(const struct source_unit *u, const struct source_node *call)
{
	for (const struct source_node *n = call->child ? call->child->next : NULL; n; n = n->next)
		if (!node_is_repeatable(u, n))
			return false;
	return true;
}

/* Every local name in the range is a parameter that is never assigned. */
static bool is_about_parameters(const struct source_node *range, const struct source_function *f)
{
	for (const struct source_node *n = range; n; n = node_next(n, range)) {
		bool is_parameter = false;

		if (n->kind != SOURCE_NAME || !n->is_local || !n->name)
			continue;
		for (size_t i = 0; i < f->nparameters; i++)
			is_parameter |= f->parameters[i].name &&
					strcmp(f->parameters[i].name, n->name) == 0;
		if (!is_parameter || node_assigns(f->body, NULL, n->name))
			return false;
	}
	return true;
}

/* Simplifies "(&p->a)->b" to "p->a.b". */
static const char *without_detour(struct repair *r, const char *text)
{
	const char *open = strstr(text, "(&"), *close = open ? strstr(open, ")->") : NULL;
	const char *inner = close ? text_copy(r->code, open + 2, (size_t)(close - open - 2)) : NULL;

	if (!inner || !text_is_postfix(inner))
		return text;
	return text_format(r->code, "%.*s%s.%s", (int)(open - text), text, inner, close + 3);
}

static const char *simplified(struct repair *r, const char *text)
{
	static const char *const pairs[][2] = { { "sizeof *&", "sizeof " }, { "&*&", "&" } };

	text = without_detour(r, text);

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		size_t len = strlen(pairs[i][0]);

		if (strncmp(text, pairs[i][0], len) == 0 && text_is_postfix(text + len))
			return text_format(r->code, "%s%s", pairs[i][1], text + len);
	}
	return text;
}

/* Asks whether each pointer argument points to something of the same size as its parameter does.
 * Otherwise "sizeof *p" and "p[i]" would mean something else in the caller. */
static bool arguments_fit(const struct source_node *call, const struct source_function *callee)
{
	const struct source_node *a = call->child ? call->child->next : NULL;

	for (size_t i = 0; i < callee->nparameters; i++, a = a->next)
		if (!a || (callee->parameters[i].is_pointer &&
			   a->target_bytes != callee->parameters[i].target_bytes))
			return false;
	return true;
}

/* Another caller of the function flushes the same member after its call. */
static bool others_know_member(struct repair *r, const struct fix *x,
			       const struct source_function *callee)
{
	for (size_t i = 0; x->range.member && i < x->unit->nfunctions; i++) {
		const struct source_node *body =
			strcmp(x->unit->functions[i].file, x->file->path) == 0
				? x->unit->functions[i].body
				: NULL;

		for (const struct source_node *n = body; n; n = node_next(n, body)) {
			const struct source_node *next =
				n->kind == SOURCE_CALL && n != x->stmt && n->name &&
						strcmp(n->name, callee->name) == 0
					? n->next
					: NULL;

			if (next && next->kind == SOURCE_CALL &&
			    idiom_call_does(r, x->unit, next) & DOES_FLUSH &&
			    text_has_word(text_of(r->code, x->file, next), x->range.member))
				return true;
		}
	}
	return false;
}

/* Widens the range from a member to the whole object that the call passes: the caller need not know
 * which member the callee stores. Objects of more than a line stay as they are, since they would
 * cost more flushes. */
static void take_object(struct repair *r, struct fix *x, const struct source_function *callee)
{
	if (others_know_member(r, x, callee))
		return;
	for (size_t i = 0; i < callee->nparameters && x->range.base && x->range.base_bytes &&
			   x->range.base_bytes <= 64;
	     i++)
		if (callee->parameters[i].name &&
		    strcmp(callee->parameters[i].name, x->range.base) == 0) {
			x->range.addr = x->range.base;
			x->range.len = x->range.base_len;
			x->range.is_one_line = x->range.base_bytes <= x->range.base_align_bytes;
			return;
		}
}

/* Rewrites a range of the callee as one of its caller: arguments replace parameters. x->stmt must
 * be the call. */
static int range_through_call(struct repair *r, struct fix *x, const struct source_function *callee,
			      const char **why)
{
	const struct source_node *call = x->stmt;
	const char **args = text_arguments(r->code, x->file, call->text_begin, call->text_end);
	const char *names[16], *values[16];
	size_t n = callee->nparameters;

	*why = "the range is not known outside the function";
	if (!args || n > 16 || callee->is_variadic ||
	    !is_about_parameters(x->range.names, callee) ||
	    !arguments_are_repeatable(x->unit, call) || !arguments_fit(call, callee))
		return -1;
	take_object(r, x, callee);
	for (size_t i = 0; i < n; i++) {
		if (!args[i])
			return -1;
		names[i] = callee->parameters[i].name ? callee->parameters[i].name : "";
		values[i] = args[i][0] == '&' && text_is_postfix(args[i] + 1) &&
					    strcmp(x->range.addr, names[i]) == 0
				    ? args[i]
				    : text_wrapped(r->code, args[i]);
	}
	x->range.addr =
		simplified(r, text_substitute(r->code, x->range.addr, false, names, values, n));
	x->range.len =
		simplified(r, text_substitute(r->code, x->range.len, false, names, values, n));
	x->range.base = x->range.thing = x->range.member = NULL;
	x->range.names = call;
	return 0;
}

/* Asks whether the pointers in the range are the same when the function returns as at the store. */
static bool is_still_there(const struct fix *x)
{
	const struct source_node *body = x->function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->begin > x->store->end && n->parent && n->parent->kind == SOURCE_COMPOUND &&
		    expression_may_change(x->unit, n, x->range.addr))
			return false;
	return true;
}

bool outward_step(struct repair *r, const struct fix *x, struct fix *outer,
		  const struct repair_place *p, size_t i)
{
	const char *why;

	*outer = *x;
	/* A store under a condition: the caller's flush might use a NULL pointer. */
	if (!node_is_sure(x->store, x->function->body) || !is_still_there(x) ||
	    !is_last_action(x->function, x->store) || fix_enter_frame(r, outer, p, i + 1, &why) < 0)
		return false;
	outer->store = call_at(outer->function, x->function->name, p->frames[i + 1].line,
			       p->frames[i + 1].column);
	outer->stmt = outer->store;
	if (!outer->store || macro_use(outer->unit, outer->file->path, outer->store) ||
	    range_through_call(r, outer, x->function, &why) < 0)
		return false;
	outer->where = AFTER;
	outer->stmt = NULL;
	outer->value = NULL;
	return place_fix(r, outer, &why) == 0 && outer->where != IN_COMMA;
}
