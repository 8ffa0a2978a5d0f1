/* Checks the conditions for moving a statement: whoever reaches one place also reaches the other,
 * and expressions mean the same at both. */
#include <string.h>

#include "repair/edit/internal.h"
#include "source/source.h"

/* Asks whether the `break` or `continue` stays inside the statement. */
static bool stays_inside(const struct file *f, const struct source_node *jump,
			 const struct source_node *top)
{
	bool is_break = strncmp(f->text + jump->begin, "break", 5) == 0;

	for (const struct source_node *n = jump; n; n = n->parent) {
		if (n->kind == SOURCE_FOR || n->kind == SOURCE_WHILE || n->kind == SOURCE_DO ||
		    (is_break && n->kind == SOURCE_SWITCH))
			return strncmp(f->text + jump->begin, "goto", 4) != 0;
		if (n == top)
			break;
	}
	return false;
}

bool statement_may_be_left(const struct file *f, const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (n->kind == SOURCE_RETURN ||
		    (n->kind == SOURCE_JUMP && !stays_inside(f, n, top)))
			return true;
	return false;
}

/* Asks whether the node is executed only under a condition of its parent. The body of do … while is
 * always executed. */
static bool is_conditional_part(const struct source_node *n)
{
	const struct source_node *p = n->parent;

	switch (p->kind) {
	case SOURCE_IF:
	case SOURCE_WHILE:
	case SOURCE_SWITCH:
	case SOURCE_CONDITIONAL: return n != p->child;
	case SOURCE_FOR: return n != p->child || n == p->last;
	case SOURCE_BINARY:
		return n != p->child &&
		       (!p->op[0] || strcmp(p->op, "&&") == 0 || strcmp(p->op, "||") == 0);
	case SOURCE_LABEL:
	case SOURCE_LAMBDA: return true;
	default: return false;
	}
}

bool node_is_sure(const struct source_node *n, const struct source_node *top)
{
	for (const struct source_node *p = n; p != top; p = p->parent)
		if (!p->parent || is_conditional_part(p))
			return false;
	for (const struct source_node *before = top; before && before->begin < n->begin;
	     before = node_next(before, top))
		if (before->kind == SOURCE_RETURN || before->kind == SOURCE_JUMP)
			return false;
	return true;
}

/* Asks whether the expression reads memory, to which others may store. */
static bool loads(const char *expression)
{
	return strstr(expression, "->") || strpbrk(expression, "[*") || strchr(expression, '(');
}

/* Asks whether the expression reads no memory: it is a sizeof, or the address of a member. */
static bool is_steady(const char *expression)
{
	const char *arrow = expression[0] == '&' ? strstr(expression, "->") : NULL;

	return strncmp(expression, "sizeof", 6) == 0 || !loads(expression) ||
	       (arrow && !loads(arrow + 2) &&
		!memchr(expression, '[', (size_t)(arrow - expression)) &&
		!memchr(expression, '(', (size_t)(arrow - expression)) &&
		!memchr(expression, '*', (size_t)(arrow - expression)));
}

static const char *name_changed(const struct source_node *n)
{
	const struct source_node *to =
		node_is_assignment(n) || (n->kind == SOURCE_UNARY && n->op[0] == '&')
			? source_bare(n->child)
			: NULL;

	if (n->kind == SOURCE_VARIABLE)
		return n->name;
	if (to && to->kind == SOURCE_NAME)
		return to->name;
	return to && to->kind == SOURCE_MEMBER && node_is_assignment(n) ? to->name : NULL;
}

bool expression_may_change(const struct source_unit *u, const struct source_node *top,
			   const char *expression)
{
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		const char *name = name_changed(n);
		bool is_variable = name && (n->kind == SOURCE_VARIABLE ||
					    source_bare(n->child)->kind == SOURCE_NAME);

		if (name && (is_variable || !is_steady(expression)) &&
		    text_has_word(expression, name))
			return true;
		if (n->kind == SOURCE_CALL && !is_steady(expression) && !call_is_of_library(u, n) &&
		    !(n->name && function_is_pure(u, n->name)))
			return true;
	}
	return false;
}
