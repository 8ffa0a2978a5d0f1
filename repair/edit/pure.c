/* Recognises code that only computes: expressions that can be evaluated again, and statements in
 * which no order matters. A function without known code may do more. */
#include <string.h>

#include "repair/edit/internal.h"

/* ---- expressions that can be evaluated again ---- */

static bool is_pure(struct codebase *code, const struct source_unit *u, const char *name,
		    int depth);

/* Asks whether the assignment is to a variable that the expression itself declares, as in D_RW():
 * ({ __typeof__(o) _o; _o._type = NULL; … }). */
static bool is_own_assignment(const struct source_node *assignment, const struct source_node *top)
{
	const struct source_node *to = assignment->child;

	while (to && to->kind == SOURCE_MEMBER && !to->is_arrow)
		to = to->child;
	for (const struct source_node *n = to && to->kind == SOURCE_NAME && to->name ? top : NULL;
	     n; n = node_next(n, top))
		if (n->kind == SOURCE_VARIABLE && n->name && strcmp(n->name, to->name) == 0)
			return true;
	return false;
}

static bool is_quiet(struct codebase *code, const struct source_unit *u,
		     const struct source_node *top, int depth)
{
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		if ((node_is_assignment(n) && !is_own_assignment(n, top)) ||
		    n->kind == SOURCE_ASM || n->kind == SOURCE_LAMBDA || n->kind == SOURCE_STMT ||
		    (n->is_volatile && !n->is_local))
			return false;
		/* a macro hides the operator */
		if (n->kind == SOURCE_BINARY && !n->op[0] && !is_own_assignment(n, top))
			return false;
		if (n->kind == SOURCE_CALL &&
		    (!n->name || depth > 3 || !is_pure(code, u, n->name, depth + 1)))
			return false;
	}
	return true;
}

/* Asks whether the function only computes. If `code` is given, the function may be defined in
 * another parsed unit. */
static bool is_pure(struct codebase *code, const struct source_unit *u, const char *name, int depth)
{
	/* the first is used by D_RW(); the operators of C++ follow a handle */
	static const char *const known[] = { "pmemobj_direct", "pmemobj_direct_inline",
					     "pmemobj_oid",    "strlen",
					     "operator->",     "operator*" };
	const struct source_function *f = function_named(u, name);
	struct source_unit *in = NULL;

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(name, known[i]) == 0)
			return true;
	if (!f && code)
		f = function_defined(code, &in, name);
	return f && is_quiet(code, in ? in : u, f->body, depth);
}

bool function_is_pure(const struct source_unit *u, const char *name)
{
	return is_pure(NULL, u, name, 0);
}

bool function_computes(struct codebase *code, const struct source_unit *u, const char *name)
{
	return is_pure(code, u, name, 0);
}

bool node_is_repeatable(const struct source_unit *u, const struct source_node *n)
{
	return is_quiet(NULL, u, n, 0);
}

/* ---- statements in which no order matters ---- */

static bool is_calm_call(struct codebase *code, const struct source_unit *u, const char *name)
{
	static const char *const calm[] = { "memcpy", "memmove", "memset", "memcmp", "strlen",
					    "strcmp", "strncmp", "strcpy", "strncpy" };

	for (size_t i = 0; i < sizeof calm / sizeof calm[0]; i++)
		if (strcmp(name, calm[i]) == 0)
			return true;
	return function_computes(code, u, name);
}

/* Asks whether the `continue` or `break` stays in a loop below `top`. */
static bool jump_is_inside(const struct file *f, const struct source_node *jump,
			   const struct source_node *top)
{
	const char *text = f ? f->text + jump->begin : "";

	if (strncmp(text, "continue", 8) != 0 && strncmp(text, "break", 5) != 0)
		return false;
	for (const struct source_node *n = jump; n; n = n->parent) {
		if (n->kind == SOURCE_FOR || n->kind == SOURCE_WHILE || n->kind == SOURCE_DO)
			return true;
		if (n == top)
			break;
	}
	return false;
}

static bool is_calm(struct codebase *code, const struct source_unit *u, const struct file *f,
		    const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		switch (n->kind) {
		case SOURCE_CALL:
			if (!n->name || !is_calm_call(code, u, n->name))
				return false;
			break;
		case SOURCE_JUMP:
			if (!jump_is_inside(f, n, top))
				return false;
			break;
		case SOURCE_ASM:
		case SOURCE_RETURN:
		case SOURCE_LABEL:
		case SOURCE_LAMBDA:
		case SOURCE_STMT: return false;
		default: break; /* it computes or stores */
		}
	return true;
}

bool node_is_calm(struct codebase *code, const struct source_unit *u, const struct source_node *top)
{
	return is_calm(code, u, NULL, top);
}

bool loop_is_calm(struct codebase *code, const struct source_unit *u, const struct file *f,
		  const struct source_node *loop)
{
	return is_calm(code, u, f, loop);
}
