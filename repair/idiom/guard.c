/* Finds the condition under which a file flushes: `#ifdef X` inside the function, an `if` on a
 * flag, or both (as two lines). If all flushes of the file have it, a new flush gets it, too. */
#include <string.h>

#include "repair/idiom/internal.h"

enum { NESTING_MAX = 16 };

/* ---- a guard's two parts ---- */

static bool is_directive(const char *guard)
{
	return guard[strspn(guard, " \t")] == '#';
}

const char *guard_directive(struct repair *r, const char *guard)
{
	return guard && is_directive(guard) ? text_copy(r->code, guard, strcspn(guard, "\n"))
					    : NULL;
}

const char *guard_test(const char *guard)
{
	const char *second = guard ? strchr(guard, '\n') : NULL;

	return !guard || !is_directive(guard) ? guard : second ? second + 1 : NULL;
}

static const char *join(struct repair *r, const char *directive, const char *test)
{
	return directive && test ? text_format(r->code, "%s\n%s", directive, test)
	       : directive       ? directive
				 : test;
}

/* ---- the guard of a use ---- */

static const char *directive(const char *line)
{
	line += strspn(line, " \t");
	return *line == '#' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

/* Collects the #if lines that are open at `at` and begin after `from`. An open #else or #elif is
 * given as NULL. Returns how many there are. */
static size_t conditions(struct repair *r, const struct file *f, uint32_t from, uint32_t at,
			 const char **open)
{
	size_t n = 0;

	for (uint32_t line = from; line < at; line = text_line_end(f, line) + 1) {
		const char *word = directive(f->text + line);

		if (!word)
			continue;
		if (strncmp(word, "if", 2) == 0 && n < NESTING_MAX) {
			size_t len = text_line_end(f, line) - line;

			while (len && strchr(" \t\r", f->text[line + len - 1]))
				len--;
			open[n++] = text_copy(r->code, f->text + line, len);
		} else if (strncmp(word, "el", 2) == 0 && n) {
			open[n - 1] = NULL;
		} else if (strncmp(word, "endif", 5) == 0 && n) {
			n--;
		}
	}
	return n;
}

/* Asks whether the condition is a flag: a variable or member, its negation, or its comparison with
 * a constant. Flags say whether there is persistent memory. Pointers are data, and so are no
 * flags. */
static bool is_flag(const struct source_node *n)
{
	while (n && n->kind == SOURCE_EXPR && n->child && n->child == n->last)
		n = n->child;
	if (!n || !n->type || strchr(n->type, '*'))
		return false;
	if (n->kind == SOURCE_UNARY && n->op[0] == '!')
		return is_flag(n->child);
	if (n->kind == SOURCE_BINARY &&
	    (strcmp(n->op, "==") == 0 || strcmp(n->op, "!=") == 0 || strcmp(n->op, "&") == 0))
		return is_flag(n->child) && (n->last->has_value || n->last->kind == SOURCE_LITERAL);
	if (n->kind == SOURCE_CALL)
		return n->child && !n->child->next && n->name;
	return n->kind == SOURCE_NAME || n->kind == SOURCE_MEMBER;
}

/* Returns the `if` without `else` around the statement, which may contain other statements, too;
 * NULL: none. */
static const struct source_node *if_around(const struct source_node *use)
{
	const struct source_node *s = use;

	while (s && s->parent && s->parent->kind != SOURCE_COMPOUND && s->parent->kind != SOURCE_IF)
		s = s->parent;
	if (!s || !s->parent)
		return NULL;
	if (s->parent->kind == SOURCE_COMPOUND)
		s = s->parent;
	if (!s->parent || s->parent->kind != SOURCE_IF || s == s->parent->child || s->next)
		return NULL;
	return s->parent;
}

const char *guard_of(struct repair *r, const struct file *file, const struct source_function *in,
		     const struct source_node *use)
{
	const char *open[NESTING_MAX];
	size_t n = conditions(r, file, in->begin, use->begin, open);
	const struct source_node *test = if_around(use);

	return join(r, n ? open[n - 1] : NULL,
		    test && is_flag(test->child)
			    ? text_format(r->code, "if (%s)", text_of(r->code, file, test->child))
			    : NULL);
}

const char *guard_common(struct repair *r, const char *a, const char *b)
{
	const char *x = guard_directive(r, a), *y = guard_directive(r, b), *s = guard_test(a),
		   *t = guard_test(b);

	return join(r, x && y && strcmp(x, y) == 0 ? x : NULL,
		    s && t && strcmp(s, t) == 0 ? s : NULL);
}

/* Asks whether the condition uses only variables of the whole program or of the object, which mean
 * the same everywhere. A local variable may be about one case. */
static bool is_of_program(const struct source_node *condition)
{
	for (const struct source_node *n = condition; n; n = node_next(n, condition))
		if (n->kind == SOURCE_NAME && n->is_local)
			return false;
	return true;
}

static bool is_under(struct repair *r, const struct fix *x, const char *guard)
{
	for (const struct source_node *n = x->stmt ? x->stmt : x->store; n; n = n->parent)
		if (n->parent && n->parent->kind == SOURCE_IF && n != n->parent->child &&
		    strcmp(guard, text_format(r->code, "if (%s)",
					      text_of(r->code, x->file, n->parent->child))) == 0)
			return true;
	return false;
}

static bool is_compiled_under(struct repair *r, const struct fix *x, const char *directive)
{
	const char *open[NESTING_MAX];
	size_t n = conditions(r, x->file, 0,
			      x->stmt && x->where == AFTER ? x->stmt->end : x->store->begin, open);

	for (size_t i = 0; i < n; i++)
		if (open[i] && strcmp(open[i], directive) == 0)
			return true;
	return false;
}

static bool is_tested(struct repair *r, const struct pattern *p, const struct fix *x,
		      const char *guard)
{
	const struct source_node *test = p->example ? if_around(p->example) : NULL;

	return !test || is_under(r, x, guard) || !names_are_known(test->child, p->in, x) ||
	       (p->uses < 2 && !is_of_program(test->child));
}

const char *guard_at(struct repair *r, const struct pattern *p, const struct fix *x)
{
	const char *directive = p->uses ? guard_directive(r, p->guard) : NULL,
		   *test = p->uses ? guard_test(p->guard) : NULL;

	return join(r, directive && !is_compiled_under(r, x, directive) ? directive : NULL,
		    test && !is_tested(r, p, x, test) ? test : NULL);
}
