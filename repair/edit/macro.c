/* Finds the left side of the only assignment in a macro, as text in which the arguments of a use
 * replace the parameters. */
#include <ctype.h>
#include <string.h>

#include "repair/edit/internal.h"

/* Returns the only "=" or "op=" in the text; NULL: there is none, or several. */
static const char *only_assignment(const char *body)
{
	const char *found = NULL;

	for (const char *p = body; *p; p++) {
		if (*p != '=')
			continue;
		if (p[1] == '=' ||
		    (p > body && strchr("=!<>", p[-1]) && !(p - body > 1 && p[-1] == p[-2]))) {
			p += p[1] == '=';
			continue;
		}
		if (found)
			return NULL;
		found = p;
	}
	return found;
}

/* Goes back from the operator to the beginning of its left side. */
static const char *left_begin(const char *body, const char *op)
{
	int depth = 0;

	while (op > body) {
		const char c = op[-1];

		if (c == ')' || c == ']')
			depth++;
		else if (c == '(' || c == '[') {
			if (depth-- == 0)
				break;
		} else if (depth == 0 && strchr(";{},?:", c))
			break;
		op--;
	}
	return op;
}

static const char *find_macro(const struct source_unit *u, const char *name)
{
	const char *text = NULL;

	/* the last definition counts; earlier conditional ones are not in the list at all */
	for (size_t i = 0; i < u->nmacros; i++)
		if (strcmp(u->macros[i].name, name) == 0 && u->macros[i].is_function)
			text = u->macros[i].text;
	return text;
}

/* Reads the parameters of "NAME(a, b)" and returns the beginning of the body. */
static const char *read_parameters(struct codebase *code, const char *text, const char **names,
				   size_t *n)
{
	const char *p = strchr(text, '('), *close = p ? strchr(p, ')') : NULL;

	*n = 0;
	if (!close)
		return NULL;
	for (p++; p < close && *n < 16;) {
		size_t len = 0;

		while (isspace((unsigned char)*p) || *p == ',')
			p++;
		while (isalnum((unsigned char)p[len]) || p[len] == '_')
			len++;
		if (!len)
			break;
		names[(*n)++] = text_copy(code, p, len);
		p += len;
	}
	return close + 1;
}

/* Simplifies "(p)->x" to "p->x" if that means the same. */
static const char *without_parentheses(struct codebase *code, const char *text)
{
	const char *close = text[0] == '(' ? strchr(text, ')') : NULL;
	const char *inner = close ? text_copy(code, text + 1, (size_t)(close - text - 1)) : NULL;

	return inner && text_is_postfix(inner) && !strchr(inner, '(')
		       ? text_format(code, "%s%s", inner, close + 1)
		       : text;
}

const char *macro_lvalue(struct codebase *code, const struct source_unit *u, struct file *f,
			 const struct source_use *use)
{
	const char *text = find_macro(u, use->name), *names[16], *body, *op, *begin, *end;
	const char **args = text_arguments(code, f, use->begin, use->end);
	size_t n;

	body = text ? read_parameters(code, text, names, &n) : NULL;
	if (!body || !args || strchr(body, '#'))
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (!args[i])
			return NULL;
	op = only_assignment(body);
	if (!op)
		return NULL;
	begin = left_begin(body, op);
	for (end = op;
	     end > begin && (isspace((unsigned char)end[-1]) || strchr("+-*/%&|^<>\\", end[-1]));
	     end--)
		;
	while (begin < end && (isspace((unsigned char)*begin) || *begin == '\\'))
		begin++;
	text = text_substitute(code, text_copy(code, begin, (size_t)(end - begin)), true, names,
			       args, n);
	return text[0] ? without_parentheses(code, text) : NULL;
}
