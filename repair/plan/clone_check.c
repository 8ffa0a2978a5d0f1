/* Can a function be copied, and a call be sent to the copy? Not if the copy would behave differently (static variables), would have to
 * be reached through a pointer or through itself, or could not be declared where it is called. */
#include <ctype.h>
#include <string.h>

#include "repair/plan/internal.h"

uint32_t clone_declarator(const struct file *f, uint32_t from, uint32_t to, const char *name)
{
	size_t len = strlen(name);

	for (uint32_t at = from; at + len < to; at++) {
		uint32_t behind;

		if (strncmp(f->text + at, name, len) != 0 || (at > 0 && (isalnum((unsigned char)f->text[at - 1]) || f->text[at - 1] == '_')) ||
		    isalnum((unsigned char)f->text[at + len]) || f->text[at + len] == '_')
			continue;
		behind = text_skip_blanks(f, at + (uint32_t)len);
		if (f->text[behind] == '(' || f->text[behind] == ')')
			return at;
	}
	return UINT32_MAX;
}

static bool is_ours(const struct repair *r, const char *path)
{
	return !r->options->root || path_is_below(path, r->options->root);
}

/* ---- the function ---- */

static bool has_static_variable(struct repair *r, const struct file *f, const struct source_function *fn)
{
	for (const struct source_node *n = fn->body; n; n = node_next(n, fn->body))
		if (n->kind == SOURCE_DECL && text_has_word(text_copy(r, f->text + n->begin, n->end - n->begin), "static"))
			return true;
	return false;
}

typedef VEC(const struct source_function *) functions;

/* Does it call the target, directly or not? */
static bool calls(struct repair *r, struct source_unit *u, const struct source_function *f, const struct source_function *target,
		  functions *seen)
{
	for (size_t i = 0; i < seen->n; i++)
		if (seen->at[i] == f)
			return false;
	*vec_add(seen) = f;
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		struct source_unit *in = u;
		const struct source_function *callee = n->kind == SOURCE_CALL && n->name ? function_defined(r, &in, n->name) : NULL;

		if (callee && (function_is_same(callee, target) || calls(r, in, callee, target, seen)))
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

static const char *reason_against(struct repair *r, struct source_unit *u, const struct file *f, const struct source_function *fn)
{
	if (u->is_cplusplus)
		return "functions of C++ are not copied";
	if (strcmp(fn->name, "main") == 0)
		return "main is not copied";
	if (fn->is_variadic)
		return text_format(r, "%s takes any number of arguments", fn->name);
	if (fn->end > f->len_bytes || f->text[fn->end - 1] != '}' || clone_declarator(f, fn->begin, fn->body->begin, fn->name) == UINT32_MAX)
		return text_format(r, "%s is made by a macro", fn->name);
	if (has_static_variable(r, f, fn))
		return text_format(r, "%s keeps a static variable, which a copy would not share", fn->name);
	return is_recursive(r, u, fn) ? text_format(r, "%s is recursive", fn->name) : NULL;
}

int clone_function_check(struct repair *r, struct source_unit *u, const struct file *f, const struct source_function *fn, const char **why)
{
	for (size_t i = 0; i < r->verdicts.n; i++)
		if (r->verdicts.at[i].function == fn) {
			*why = r->verdicts.at[i].why;
			return *why ? -1 : 0;
		}
	*why = reason_against(r, u, f, fn);
	*vec_add(&r->verdicts) = (struct verdict){ fn, *why };
	return *why ? -1 : 0;
}

/* ---- the call ---- */

const struct source_node *call_of_frame(struct repair *r, struct fix *at, const struct repair_place *p, size_t i, const char *callee,
					const char **why)
{
	const struct source_node *call;

	if (i >= p->nframes || fix_enter_frame(r, at, p, i, why) < 0)
		return NULL;
	call = call_at(at->function, callee, p->frames[i].line, p->frames[i].column);
	if (!call)
		*why = text_format(r, "%s is not called by its name at %s:%u", callee, p->frames[i].file, p->frames[i].line);
	else if (macro_use(at->unit, at->file->path, call))
		*why = text_format(r, "a macro calls %s at %s:%u", callee, p->frames[i].file, p->frames[i].line);
	else
		return call;
	return NULL;
}

/* The end of a declaration, behind its semicolon; 0 if it is of an odd form. */
uint32_t clone_declaration_end(const struct file *f, const struct source_function *d)
{
	uint32_t at = d->end;

	while (at < f->len_bytes && !strchr(";,{}", f->text[at]))
		at++;
	return at < f->len_bytes && f->text[at] == ';' ? at + 1 : 0;
}

bool clone_is_declaration(struct repair *r, const struct source_function *d, const struct source_function *of)
{
	const struct file *f;

	if (d->body || d->is_system || !is_ours(r, d->file) || strcmp(d->name, of->name) != 0)
		return false;
	f = file_open(r, d->file);
	return f && d->end <= f->len_bytes && clone_declarator(f, d->begin, d->end, of->name) != UINT32_MAX && clone_declaration_end(f, d);
}

/* Is what stands directly behind the function's definition known at the call? */
bool clone_is_visible(const struct source_unit *u, const struct file *f, const struct source_node *call, const struct source_function *callee)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		if (u->functions[i].body && function_is_same(&u->functions[i], callee))
			return strcmp(callee->file, f->path) != 0 || callee->end <= call->begin;
	return false;
}

static bool is_declared(struct repair *r, const struct source_unit *u, const struct file *f, const struct source_node *call,
			const struct source_function *callee)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		if (clone_is_declaration(r, &u->functions[i], callee) &&
		    (strcmp(u->functions[i].file, f->path) != 0 || u->functions[i].begin < call->begin))
			return true;
	return false;
}

int clone_call_check(struct repair *r, const struct source_unit *u, const struct file *f, const struct source_node *call,
		     const struct source_function *callee, const char **why)
{
	if (clone_is_visible(u, f, call, callee) || is_declared(r, u, f, call, callee))
		return 0;
	*why = text_format(r, "a copy of %s could not be declared where it is called", callee->name);
	return -1;
}

/* ---- the way from the store to the call ---- */

int clone_links(struct repair *r, const struct fix *x, size_t level, struct clone_link *links, const char **why)
{
	struct fix inner = *x;

	for (size_t i = 1; i <= level; i++) {
		struct clone_link *l = &links[i - 1];

		*l = (struct clone_link){ .inner = inner, .outer = inner };
		l->call = call_of_frame(r, &l->outer, x->place, x->frame + i, inner.function->name, why);
		if (!is_ours(r, inner.file->path) || !is_ours(r, l->outer.file ? l->outer.file->path : inner.file->path)) {
			*why = text_format(r, "%s is not below the source's folder (--root)", inner.function->name);
			return -1;
		}
		if (!l->call || clone_function_check(r, inner.unit, inner.file, inner.function, why) < 0 ||
		    clone_call_check(r, l->outer.unit, l->outer.file, l->call, inner.function, why) < 0)
			return -1;
		inner = l->outer;
	}
	return 0;
}

/* The change at the call itself: a fence, if there is room for it. */
int clone_fence(struct repair *r, const struct fix *x, const struct clone_link *last, struct fix *fence, const char **why)
{
	struct idiom idiom;

	*fence = (struct fix){ .bug = x->bug, .unit = last->outer.unit, .function = last->outer.function, .file = last->outer.file,
			       .store = last->call, .needs_fence = x->needs_fence, .is_hoisted = true };
	if (place_fix(r, fence, why) < 0)
		return -1;
	idiom_find(r, fence, &idiom);
	*why = "a fence does not fit into the expression";
	return fence->where == IN_COMMA || !idiom_lines(r, &idiom, &fence->range, false, true, false, why) ? -1 : 0;
}

int clone_check(struct repair *r, const struct fix *x, size_t level, const char **why)
{
	struct clone_link links[CLONE_MAX_LEVELS];
	const struct clone_link *last = &links[level - 1];
	struct idiom idiom;

	*why = "the call is too far out";
	if (level > CLONE_MAX_LEVELS || clone_links(r, x, level, links, why) < 0)
		return -1;
	if (last->inner.function->is_static && !score_has_other_use(r, last->inner.function)) {
		*why = text_format(r, "nobody else calls %s", last->inner.function->name);
		return -1;
	}
	idiom_find(r, x, &idiom);
	if (!idiom_lines(r, &idiom, &x->range, true, x->needs_fence, x->where == IN_COMMA, why))
		return -1;
	return 0;
}
