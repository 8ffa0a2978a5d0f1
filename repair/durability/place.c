/* Decides where flush and fence are written: behind the statement, if that is always executed right
 * after the store; otherwise inside the expression, behind a comma (the store is under a condition
 * as in `a && (x = 1)`, or in the header of a loop). */
#include <string.h>

#include "repair/durability/internal.h"

/* Asks whether the condition consists of constants. If so, it always holds, because the store was
 * executed. */
static bool is_constant(const struct source_node *condition)
{
	for (const struct source_node *n = condition; n; n = node_next(n, condition))
		if (n->kind != SOURCE_LITERAL && n->kind != SOURCE_BINARY &&
		    n->kind != SOURCE_UNARY && n->kind != SOURCE_EXPR)
			return false;
	return true;
}

/* Moves *n out to the outermost node that the same macro makes. Returns -1 if what lies between
 * depends on a condition. */
static int leave_macro(const struct fix *x, const struct source_node **n)
{
	const struct source_use *use = macro_use(x->unit, x->file->path, *n);
	bool is_conditional = false;

	if (!use)
		return 0;
	while ((*n)->parent && (*n)->parent->begin >= use->begin && (*n)->parent->end <= use->end) {
		const struct source_node *p = (*n)->parent;

		/* the condition itself is always evaluated; of a macro's operator the text may be
		 * hidden, so any operator may be && */
		is_conditional |=
			p->kind == SOURCE_FOR || p->kind == SOURCE_WHILE ||
			p->kind == SOURCE_LAMBDA ||
			(*n != p->child &&
			 ((p->kind == SOURCE_IF && !is_constant(p->child)) ||
			  p->kind == SOURCE_SWITCH || p->kind == SOURCE_CONDITIONAL ||
			  (p->kind == SOURCE_BINARY && !node_is_assignment(p) && *n != x->store)));
		*n = (*n)->parent;
	}
	return is_conditional ? -1 : 0;
}

/* Returns text that gives the expression's value again; NULL: impossible. */
static const char *value_again(struct repair *r, const struct fix *x)
{
	const struct source_node *n = x->store;

	if (n->kind == SOURCE_CALL)
		return n->name &&
				       (strstr(n->name, "memcpy") || strstr(n->name, "memset") ||
					strstr(n->name, "memmove") ||
					strcmp(n->name, "strcpy") == 0 ||
					strcmp(n->name, "strncpy") == 0) &&
				       !strstr(n->name, "mempcpy")
			       ? x->range.addr
			       : NULL;
	if (n->kind == SOURCE_UNARY && n->op[0] == 'x')
		return NULL; /* i++ gives the old value */
	if (n->kind == SOURCE_EXPR || !n->child || macro_use(x->unit, x->file->path, n) ||
	    !node_is_repeatable(x->unit, n->child))
		return NULL;
	return text_of(r->code, x->file, n->child);
}

/* Asks whether n is the first or last part of a for header, whose value nobody uses. */
static bool is_valueless_header(const struct file *f, const struct source_node *n)
{
	const struct source_node *p = n->parent;
	uint32_t at;

	if (!p || p->kind != SOURCE_FOR || n == p->last)
		return false;
	at = text_skip_blanks(f, n->end);
	/* if the header has no first part, the tree's first child is the condition */
	return f->text[at] == ')' || n == p->child;
}

static bool first_part_is_missing(const struct file *f, const struct source_node *p)
{
	const char *open = strchr(f->text + p->begin, '(');
	uint32_t at = open ? text_skip_blanks(f, (uint32_t)(open - f->text) + 1) : 0;

	return at && f->text[at] == ';';
}

static int place_in_expression(struct repair *r, struct fix *x, bool needs_value, const char **why)
{
	x->where = IN_COMMA;
	x->stmt = x->store;
	if (macro_use(x->unit, x->file->path, x->store)) {
		*why = "a macro makes the store inside an expression";
		return -1;
	}
	if (!needs_value)
		return 0;
	x->value = value_again(r, x);
	if (!x->value)
		*why = "the value of the expression is needed and cannot be taken again after a flush";
	return x->value ? 0 : -1;
}

static bool is_condition(const struct source_node *parent, const struct source_node *n)
{
	if (parent->kind == SOURCE_LAMBDA)
		return true;
	if (parent->kind == SOURCE_CONDITIONAL)
		return n != parent->child; /* the condition itself is always evaluated */
	if (parent->kind == SOURCE_BINARY && n != parent->child)
		return parent->op[0] == 0 || strcmp(parent->op, "&&") == 0 ||
		       strcmp(parent->op, "||") == 0;
	return parent->kind == SOURCE_CALL && n != parent->child;
}

int place_fix(struct repair *r, struct fix *x, const char **why)
{
	const struct source_node *n = x->store;

	*why = "a macro makes the store under a condition of its own";
	/* a fence that has nothing to wait for is harmless */
	if (leave_macro(x, &n) < 0 && x->needs_flush)
		return -1;
	while (n->parent && !node_is_body(x->file, n)) {
		const struct source_node *p = n->parent;

		if (is_condition(p, n) && !macro_use(x->unit, x->file->path, n))
			return place_in_expression(r, x, true, why);
		if (p->kind == SOURCE_FOR && is_valueless_header(x->file, n) &&
		    !(n == p->child && first_part_is_missing(x->file, p)) && n == x->store)
			return place_in_expression(r, x, false, why);
		if (p->kind == SOURCE_IF || p->kind == SOURCE_FOR || p->kind == SOURCE_WHILE ||
		    p->kind == SOURCE_DO || p->kind == SOURCE_SWITCH)
			return place_in_expression(r, x, true, why);
		n = p;
		if (n->kind == SOURCE_RETURN)
			x->where = IN_RETURN;
		if (n->kind == SOURCE_LABEL || n->kind == SOURCE_COMPOUND)
			break;
	}
	x->stmt = n;
	if (!node_is_body(x->file, n)) {
		*why = "the statement is not in a block";
		return -1;
	}
	if (n->kind != SOURCE_RETURN && n->kind != SOURCE_DECL && node_is_statement(n) &&
	    !macro_use(x->unit, x->file->path, n)) {
		*why = "the statement is of an unknown form";
		return -1;
	}
	return 0;
}
