/* Walks the trees of functions, and tells what a node is: what is written, not what it is for. */
#include <string.h>

#include "repair/edit/internal.h"

/* ---- walking ---- */

const struct source_node *node_next(const struct source_node *n, const struct source_node *top)
{
	if (n->child)
		return n->child;
	while (n != top && !n->next)
		n = n->parent;
	return n == top ? NULL : n->next;
}

const struct source_function *function_at(const struct source_unit *u, const char *file,
					  uint32_t line)
{
	const struct source_function *found = NULL;

	for (size_t i = 0; i < u->nfunctions; i++) {
		const struct source_function *f = &u->functions[i];

		if (f->body && f->line <= line && line <= f->end_line &&
		    strcmp(f->file, file) == 0 && (!found || found->begin <= f->begin))
			found = f;
	}
	return found;
}

const struct source_function *function_named(const struct source_unit *u, const char *name)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		if (u->functions[i].body && strcmp(u->functions[i].name, name) == 0)
			return &u->functions[i];
	return NULL;
}

bool function_is_same(const struct source_function *a, const struct source_function *b)
{
	return a == b || (a->begin == b->begin && strcmp(a->file, b->file) == 0);
}

const struct source_use *macro_use(const struct source_unit *u, const char *file,
				   const struct source_node *n)
{
	const struct source_use *found = NULL;

	for (size_t i = 0; i < u->nuses; i++) {
		const struct source_use *use = &u->uses[i];

		if (use->begin <= n->begin && n->end <= use->end && strcmp(use->file, file) == 0 &&
		    (!found || use->end - use->begin > found->end - found->begin))
			found = use;
	}
	return found;
}

/* ---- expressions ---- */

bool node_is_assignment(const struct source_node *n)
{
	size_t len = strlen(n->op);

	if (n->kind == SOURCE_UNARY)
		return strchr(n->op, 'x') != NULL;
	return n->kind == SOURCE_BINARY && len > 0 && n->op[len - 1] == '=' &&
	       strcmp(n->op, "==") != 0 && strcmp(n->op, "!=") != 0 && strcmp(n->op, "<=") != 0 &&
	       strcmp(n->op, ">=") != 0;
}

static bool is_same_type(const struct source_node *a, const struct source_node *b)
{
	return a->type && b->type && strcmp(a->type, b->type) == 0;
}

bool node_may_assign(const struct source_node *n)
{
	const struct source_node *to = n->child;

	if (node_is_assignment(n))
		return true;
	if (n->kind != SOURCE_BINARY || n->op[0] || !to || to == n->last || !is_same_type(n, to))
		return false;
	while (to->kind == SOURCE_EXPR && to->child && to->child == to->last &&
	       is_same_type(to, to->child))
		to = to->child; /* parentheses; nobody assigns to a cast */
	return to->kind == SOURCE_NAME || to->kind == SOURCE_MEMBER ||
	       to->kind == SOURCE_SUBSCRIPT || to->kind == SOURCE_UNARY;
}

/* Asks whether the node is a local variable, or a part of one. Such a variable is not
 * persistent. */
bool node_is_own_variable(const struct source_node *n)
{
	while (n && ((n->kind == SOURCE_MEMBER && !n->is_arrow) ||
		     (n->kind == SOURCE_SUBSCRIPT && n->child && n->child->is_array) ||
		     (n->kind == SOURCE_EXPR && n->child && n->child == n->last)))
		n = n->child;
	return n && n->kind == SOURCE_NAME && n->is_local && !n->is_reference;
}

/* Asks whether something below `top` assigns the variable. What is below `besides` does not
 * count. */
bool node_assigns(const struct source_node *top, const struct source_node *besides,
		  const char *name)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (n != besides && node_is_assignment(n) && n->child &&
		    n->child->kind == SOURCE_NAME && n->child->name &&
		    strcmp(n->child->name, name) == 0)
			return true;
	return false;
}

bool type_is_pool(const char *type)
{
	/* not the type of a function that returns a pool */
	return type &&
	       (strcmp(type, "PMEMobjpool *") == 0 || strcmp(type, "PMEMobjpool *const") == 0);
}

/* ---- statements ---- */

bool node_is_statement(const struct source_node *n)
{
	switch (n->kind) {
	case SOURCE_STMT:
	case SOURCE_COMPOUND:
	case SOURCE_IF:
	case SOURCE_FOR:
	case SOURCE_WHILE:
	case SOURCE_DO:
	case SOURCE_SWITCH:
	case SOURCE_LABEL:
	case SOURCE_RETURN:
	case SOURCE_JUMP:
	case SOURCE_ASM:
	case SOURCE_DECL: return true;
	case SOURCE_EXPR:
	case SOURCE_VARIABLE:
	case SOURCE_BINARY:
	case SOURCE_UNARY:
	case SOURCE_CALL:
	case SOURCE_MEMBER:
	case SOURCE_SUBSCRIPT:
	case SOURCE_NAME:
	case SOURCE_CONDITIONAL:
	case SOURCE_LITERAL:
	case SOURCE_LAMBDA: return false;
	}
	return false;
}

/* Asks whether the node is a statement in a block or the body of a statement, and not a part of a
 * header. */
bool node_is_body(const struct file *f, const struct source_node *n)
{
	const struct source_node *p = n->parent;

	if (!p)
		return false;
	switch (p->kind) {
	case SOURCE_COMPOUND: /* the last statement of ({ }) is its value */
		return n != p->last || !p->parent || p->parent->kind != SOURCE_EXPR;
	/* condition, then, else; in C++ a declaration may precede the condition, behind which is a
	 * parenthesis */
	case SOURCE_IF:
		return n != p->child &&
		       (node_is_statement(n) || f->text[text_skip_blanks(f, n->end)] != ')');
	case SOURCE_FOR:
	case SOURCE_WHILE:
	case SOURCE_SWITCH: return n == p->last;
	case SOURCE_DO: return n == p->child;
	case SOURCE_LABEL: return n == p->last && n->begin > p->begin;
	default: return false;
	}
}

bool node_is_in_lambda(const struct source_node *n)
{
	for (; n; n = n->parent)
		if (n->kind == SOURCE_LAMBDA)
			return true;
	return false;
}
