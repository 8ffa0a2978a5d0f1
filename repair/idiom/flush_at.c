/* Finds out what an existing statement flushes: its address and length as they are written, for any
 * function or macro. Also recognises a helper that misses the last line of a range; no new call of
 * it is ever written. */
#include <string.h>

#include "repair/idiom/internal.h"
#include "source/source.h"

/* ---- a call ---- */

/* Returns the innermost helper that misses the last line: `f`, or a function that it calls. */
static const struct source_function *innermost_short(struct repair *r, const struct source_unit **u,
						     const struct source_function *f)
{
	for (unsigned depth = 0; depth < 4; depth++) {
		const struct source_function *inner = NULL;
		const struct source_unit *in = *u;

		for (const struct source_node *n = f->body; n && !inner;
		     n = node_next(n, f->body)) {
			in = *u;
			inner = n->kind == SOURCE_CALL ? run_callee(r, &in, n) : NULL;
			if (inner && (inner == f || !inner->body ||
				      !way_of_function(r, in, inner)->is_short))
				inner = NULL;
		}
		if (!inner)
			return f;
		f = inner;
		*u = in;
	}
	return f;
}

static struct way way_of_callee(struct repair *r, const struct source_unit *u, const struct file *f,
				const struct source_node *call, const char *const *args,
				struct idiom_flush *out)
{
	const struct source_unit *in = u;
	const struct source_function *callee =
		call->name && !idiom_known(call->name) ? run_callee(r, &in, call) : NULL;

	if (callee && callee->body && way_of_function(r, in, callee)->is_short) {
		struct way w = *way_of_function(r, in, callee);

		w.unit = WAY_RANGE;
		out->is_short = true;
		out->helper = innermost_short(r, &in, callee);
		out->helper_unit = in;
		return w;
	}
	if (!callee && call->name && !idiom_known(call->name))
		for (size_t i = 0; i < u->nfunctions; i++)
			if (!u->functions[i].is_system && !u->functions[i].body &&
			    strcmp(u->functions[i].name, call->name) == 0)
				/* the name decides */
				return *way_of_declared(r, u, &u->functions[i]);
	return way_of_call(r, u, f, call, args);
}

/* ---- places of arguments ---- */

/* Finds argument i of the list that begins at the first parenthesis: [*from, *to), without blanks
 * around it. */
static bool find_argument(const struct file *f, uint32_t at, uint32_t end, int i, uint32_t *from,
			  uint32_t *to)
{
	int depth = 0;

	while (at < end && f->text[at] != '(')
		at++;
	for (uint32_t k = *from = at + 1; k < end; k++) {
		const char c = f->text[k];

		if (c == '"' || c == '\'')
			for (k++; k < end && f->text[k] != c; k++)
				k += f->text[k] == '\\';
		else if (depth == 0 && (c == ',' || c == ')') && i-- == 0) {
			for (*to = k; *to > *from && strchr(" \t\r\n", f->text[*to - 1]); --*to)
				;
			while (*from < *to && strchr(" \t\r\n", f->text[*from]))
				++*from;
			return *from < *to;
		} else if (depth == 0 && c == ',')
			*from = k + 1;
		else
			depth += strchr("([{", c) ? 1 : strchr(")]}", c) ? -1 : 0;
	}
	return false;
}

/* ---- a statement ---- */

static void fill(struct repair *r, const struct file *f, const struct way *w, uint32_t at,
		 uint32_t end, const char *const *args, size_t n, struct idiom_flush *out)
{
	const char *addr = w->addr >= 0 && (size_t)w->addr < n ? args[w->addr] : NULL,
		   *len = w->len >= 0 && (size_t)w->len < n ? args[w->len] : NULL;

	out->does = w->does;
	switch (w->unit) {
	case WAY_RANGE:
		out->addr = len ? addr : NULL;
		out->len = len;
		if (len && (!find_argument(f, at, end, w->len, &out->len_begin, &out->len_end) ||
			    !find_argument(f, at, end, w->addr, &out->addr_begin, &out->addr_end)))
			out->addr = NULL;
		return;
	case WAY_OBJECT:
	case WAY_POINTEE: out->addr = addr; return;
	case WAY_THING:
		out->addr = addr && !w->is_line
				    ? text_format(r->code, "&%s", text_wrapped(r->code, addr))
				    : NULL;
		return;
	case WAY_MEMBER:
		out->addr =
			addr && len && !w->is_line
				? text_format(r->code, "&%s->%s", text_wrapped(r->code, addr), len)
				: NULL;
		return;
	case WAY_NONE:
	case WAY_FENCE:
	case WAY_LINES:
	case WAY_BOUNDS:
	case WAY_LINE: return;
	}
}

static struct way way_of_use(struct repair *r, const struct source_unit *u, const char *name)
{
	for (size_t i = u->nmacros; i-- > 0;)
		if (strcmp(u->macros[i].name, name) == 0)
			return u->macros[i].is_system
				       ? (struct way){ .unit = WAY_NONE }
				       : way_of_macro(r, u, &u->macros[i], 0, way_of_declared);
	return (struct way){ .unit = WAY_NONE };
}

bool idiom_flush_at(struct repair *r, const struct source_unit *u, const struct file *f,
		    const struct source_node *stmt, struct idiom_flush *out)
{
	const struct source_use *use = macro_use(u, f->path, stmt);
	const struct source_node *call = source_bare(stmt);
	const struct source_node *callee =
		call->kind == SOURCE_CALL ? source_bare(call->child) : NULL;
	uint32_t at, end;
	const char **args;
	struct way w;
	size_t n = 0;

	*out = (struct idiom_flush){ 0 };
	if (!use && !callee)
		return false;
	patterns_of(r, u, f); /* parses the files that define what this one calls */
	if (use && (use->begin != stmt->begin || use->end < stmt->end))
		return false;
	at = use                                 ? use->begin
	     : callee->text_end < call->text_end ? callee->text_end
						 : call->text_begin;
	end = use ? use->end : call->text_end;
	args = text_arguments(r->code, f, at, end);
	w = use ? way_of_use(r, u, use->name) : way_of_callee(r, u, f, call, args, out);
	while (args && args[n] && args[n][0])
		n++;
	if (!(w.does & (DOES_FLUSH | DOES_FENCE)))
		return false;
	if (w.addr == WAY_THIS && w.unit == WAY_OBJECT) {
		out->does = w.does;
		out->addr = callee->kind != SOURCE_MEMBER || !callee->child ? "this"
			    : callee->is_arrow
				    ? text_of(r->code, f, callee->child)
				    : text_format(r->code, "&%s",
						  text_wrapped(r->code,
							       text_of(r->code, f, callee->child)));
		return true;
	}
	fill(r, f, &w, at, end, args, n, out);
	return true;
}
