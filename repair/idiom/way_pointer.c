/* Calls through pointers: `ops->flush(p, n)`, `persist_fn(p, n)`. What the sources assign to a member or variable of that name is what is called. */
#include <ctype.h>
#include <string.h>

#include "repair/idiom/internal.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The function of the next "name = function" or "void (*name)(…) = &function" from p on; NULL: none. Goes on behind it. */
static const struct source_function *next_assigned(const struct source_unit *u, const char *text, const char **p, const char *name)
{
	size_t len = strlen(name);

	while ((*p = strstr(*p, name))) {
		const char *from = *p, *q = from + len + strspn(from + len, " \t");
		const struct source_function *f;
		char word[128];
		size_t n = 0;

		*p += len;
		if ((from > text && is_word(from[-1])) || is_word(from[len]))
			continue;
		if (*q == ')')
			q += strcspn(q, "=;{");
		if (*q != '=' || q[1] == '=')
			continue;
		for (q += 1 + strspn(q + 1, " \t&\n"); is_word(q[n]) && n + 1 < sizeof word; n++)
			word[n] = q[n];
		word[n] = 0;
		f = n ? function_named(u, word) : NULL;
		if (f)
			return f;
	}
	return NULL;
}

/* A function's own type is "void (int)", a pointer's "void (*)(int)" or a name. */
static const struct source_node *pointer_called(const struct source_node *call)
{
	const struct source_node *n = call->child;

	while (n && n->child && n->child == n->last && (n->kind == SOURCE_EXPR || (n->kind == SOURCE_UNARY && n->op[0] == '*')))
		n = n->child;
	if (!n || !n->name || (n->kind != SOURCE_NAME && n->kind != SOURCE_MEMBER) || !n->type || !n->type[0])
		return NULL;
	return strstr(n->type, "(*") || (!strchr(n->type, '(') && n->type[0] != '<') ? n : NULL;
}

bool way_is_by_pointer(const struct source_node *call)
{
	return pointer_called(call) != NULL;
}

const struct source_function *way_behind_pointer(struct repair *r, const struct source_unit *u, const struct source_node *call)
{
	const struct source_node *callee = pointer_called(call);
	const struct file *file = callee ? file_open(r->code, u->main_file) : NULL;
	const char *p = file ? file->text : NULL;

	return p ? next_assigned(u, file->text, &p, callee->name) : NULL;
}
