/* Decides whether a function can be copied, and whether a call can be changed to call the copy.
 * Neither is possible if the copy would behave differently (static variables), is called through a
 * pointer, is recursive, or could not be declared at the call. */
#include <ctype.h>
#include <string.h>

#include "repair/plan/internal.h"

uint32_t clone_declarator(const struct file *f, uint32_t from, uint32_t to, const char *name)
{
	size_t len = strlen(name);

	for (uint32_t at = from; at + len < to; at++) {
		uint32_t behind;

		if (strncmp(f->text + at, name, len) != 0 ||
		    (at > 0 &&
		     (isalnum((unsigned char)f->text[at - 1]) || f->text[at - 1] == '_')) ||
		    isalnum((unsigned char)f->text[at + len]) || f->text[at + len] == '_')
			continue;
		behind = text_skip_blanks(f, at + (uint32_t)len);
		if (f->text[behind] == '(' || f->text[behind] == ')')
			return at;
	}
	return UINT32_MAX;
}

bool clone_is_ours(const struct repair *r, const char *path)
{
	return !r->options->root || path_is_below(path, r->options->root);
}

/* ---- the function ---- */

static bool has_static_variable(struct repair *r, const struct file *f,
				const struct source_function *fn)
{
	for (const struct source_node *n = fn->body; n; n = node_next(n, fn->body))
		if (n->kind == SOURCE_DECL &&
		    text_has_word(text_copy(r->code, f->text + n->begin, n->end - n->begin),
				  "static"))
			return true;
	return false;
}

typedef VEC(const struct source_function *) functions;

/* Asks whether f calls the target, directly or through other functions. */
static bool calls(struct repair *r, struct source_unit *u, const struct source_function *f,
		  const struct source_function *target, functions *seen)
{
	for (size_t i = 0; i < seen->n; i++)
		if (seen->at[i] == f)
			return false;
	*vec_add(seen) = f;
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		struct source_unit *in = u;
		const struct source_function *callee =
			n->kind == SOURCE_CALL && n->name ? function_defined(r->code, &in, n->name)
							  : NULL;

		if (callee &&
		    (function_is_same(callee, target) || calls(r, in, callee, target, seen)))
			return true;
	}
	return false;
}

static bool is_recursive(struct repair *r, struct source_unit *u, const struct source_function *f)
{
	functions seen = { 0 };
	bool result = calls(r, u, f, f, &seen);

	vec_release(&seen);
	return result;
}

static const char *reason_against(struct repair *r, struct source_unit *u, const struct file *f,
				  const struct source_function *fn)
{
	if (u->is_cplusplus)
		return "functions of C++ are not copied";
	if (strcmp(fn->name, "main") == 0)
		return "main is not copied";
	if (fn->is_variadic)
		return text_format(r->code, "%s takes any number of arguments", fn->name);
	if (fn->end > f->len_bytes || f->text[fn->end - 1] != '}' ||
	    clone_declarator(f, fn->begin, fn->body->begin, fn->name) == UINT32_MAX)
		return text_format(r->code, "%s is made by a macro", fn->name);
	if (has_static_variable(r, f, fn))
		return text_format(r->code,
				   "%s keeps a static variable, which a copy would not share",
				   fn->name);
	return is_recursive(r, u, fn) ? text_format(r->code, "%s is recursive", fn->name) : NULL;
}

int clone_function_check(struct repair *r, struct source_unit *u, const struct file *f,
			 const struct source_function *fn, const char **why)
{
	for (size_t i = 0; i < r->verdicts.n; i++)
		if (r->verdicts.at[i].function == fn) {
			*why = r->verdicts.at[i].why;
			return *why ? -1 : 0;
		}
	*why = reason_against(r, u, f, fn);
	*vec_add(&r->verdicts) = (struct clone_verdict){ fn, *why };
	return *why ? -1 : 0;
}

/* ---- the call ---- */

/* Returns the end of a declaration, behind its semicolon; 0: the declaration has an unusual
 * form. */
uint32_t clone_declaration_end(const struct file *f, const struct source_function *d)
{
	uint32_t at = d->end;

	while (at < f->len_bytes && !strchr(";,{}", f->text[at]))
		at++;
	return at < f->len_bytes && f->text[at] == ';' ? at + 1 : 0;
}

bool clone_is_declaration(struct repair *r, const struct source_function *d,
			  const struct source_function *of)
{
	const struct file *f;

	if (d->body || d->is_system || !clone_is_ours(r, d->file) || strcmp(d->name, of->name) != 0)
		return false;
	f = file_open(r->code, d->file);
	return f && d->end <= f->len_bytes &&
	       clone_declarator(f, d->begin, d->end, of->name) != UINT32_MAX &&
	       clone_declaration_end(f, d);
}

/* Asks whether a declaration directly behind the function's definition is known at the call. */
bool clone_is_visible(const struct source_unit *u, const struct file *f,
		      const struct source_node *call, const struct source_function *callee)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		if (u->functions[i].body && function_is_same(&u->functions[i], callee))
			return strcmp(callee->file, f->path) != 0 || callee->end <= call->begin;
	return false;
}

static bool is_declared(struct repair *r, const struct source_unit *u, const struct file *f,
			const struct source_node *call, const struct source_function *callee)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		if (clone_is_declaration(r, &u->functions[i], callee) &&
		    (strcmp(u->functions[i].file, f->path) != 0 ||
		     u->functions[i].begin < call->begin))
			return true;
	return false;
}

int clone_call_check(struct repair *r, const struct source_unit *u, const struct file *f,
		     const struct source_node *call, const struct source_function *callee,
		     const char **why)
{
	if (clone_is_visible(u, f, call, callee) || is_declared(r, u, f, call, callee))
		return 0;
	*why = text_format(r->code, "a copy of %s could not be declared where it is called",
			   callee->name);
	return -1;
}
