/* Knows the library functions that store to their arguments: those of the C library, and those of
 * C++'s strings and algorithms, whose code is in headers without a tree. */
#include <string.h>

#include "repair/edit/internal.h"
#include "source/source.h"

enum { NO_LENGTH = -1, ANY = 0, METHOD = 1, POINTERS = 2 };

/* Entries also match names with "_chk", __builtin_…, and pmem_…_persist and the like. */
static const struct writer {
	const char *name;
	int to, len; /* numbers of arguments; NO_LENGTH: a string up to its end */
	/* 1: the length counts elements of what `to` points to; 2: `len` is the end and `to` the
	 * beginning */
	int elements;
	int form;
	const char *of; /* METHOD: a word in the type of the object */
} writers[] = {
	{ "memcpy", 0, 2, 0, ANY, NULL },          { "memmove", 0, 2, 0, ANY, NULL },
	{ "memset", 0, 2, 0, ANY, NULL },          { "mempcpy", 0, 2, 0, ANY, NULL },
	{ "strncpy", 0, 2, 0, ANY, NULL },         { "strcpy", 0, NO_LENGTH, 0, ANY, NULL },
	{ "stpcpy", 0, NO_LENGTH, 0, ANY, NULL },  { "strcat", 0, NO_LENGTH, 0, ANY, NULL },
	{ "sprintf", 0, NO_LENGTH, 0, ANY, NULL }, { "snprintf", 0, 1, 0, ANY, NULL },
	{ "bzero", 0, 1, 0, ANY, NULL },           { "strlcpy", 0, 2, 0, ANY, NULL },
	{ "strncat", 0, NO_LENGTH, 0, ANY, NULL }, { "vsprintf", 0, NO_LENGTH, 0, ANY, NULL },
	{ "vsnprintf", 0, 1, 0, ANY, NULL },       { "read", 1, 2, 0, ANY, NULL },
	{ "pread", 1, 2, 0, ANY, NULL },           { "recv", 1, 2, 0, ANY, NULL },
	{ "fgets", 0, NO_LENGTH, 0, ANY, NULL },   { "getrandom", 0, 1, 0, ANY, NULL },
	{ "copy", 0, 1, 0, METHOD, "string" },     { "copy_n", 2, 1, 1, POINTERS, NULL },
	{ "fill_n", 0, 1, 1, POINTERS, NULL },     { "fill", 0, 1, 2, POINTERS, NULL },
};

const struct source_node *call_argument(const struct source_node *call, int i)
{
	const struct source_node *n = call->child ? call->child->next : NULL;

	for (; n && i > 0; i--)
		n = n->next;
	return n ? source_bare(n) : NULL;
}

static bool is_of_form(const struct writer *w, const struct source_node *call)
{
	const struct source_node *callee = call->child ? source_bare(call->child) : NULL,
				 *to = call_argument(call, w->to);
	const char *type = callee && callee->kind == SOURCE_MEMBER && callee->child
				   ? callee->child->type
				   : NULL;

	if (w->form == METHOD)
		return to && type && strstr(type, w->of);
	return w->form == ANY ? !callee || callee->kind != SOURCE_MEMBER
			      : to && (to->is_array || to->target_bytes > 0);
}

/* Asks whether the program has a function of that name. */
static bool is_own(const struct source_unit *u, const char *name)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		if (!u->functions[i].is_system && strcmp(u->functions[i].name, name) == 0)
			return true;
	return false;
}

static const struct writer *writer_find(const struct source_unit *u, const struct source_node *call)
{
	const char *name = call->name;
	bool is_builtin = name && strncmp(name, "__builtin_", 10) == 0,
	     is_pmem = name && strncmp(name, "pmem_", 5) == 0;

	for (size_t i = 0; name && i < sizeof writers / sizeof writers[0]; i++)
		if ((strcmp(name, writers[i].name) == 0 ||
		     (((is_builtin && i < 11) || (is_pmem && i < 4)) &&
		      strstr(name, writers[i].name))) &&
		    is_of_form(&writers[i], call))
			return i >= 11 && is_own(u, name) ? NULL : &writers[i];
	return NULL;
}

int call_writes_to(const struct source_unit *u, const struct source_node *call)
{
	const struct writer *w = call->kind == SOURCE_CALL ? writer_find(u, call) : NULL;

	return w ? w->to : WRITES_NOTHING;
}

const char *call_writes_bytes(struct codebase *code, const struct source_unit *u,
			      const struct source_node *call, const char *const *args, int *which)
{
	const struct writer *w = writer_find(u, call);
	int n = 0;

	while (args[n])
		n++;
	if (!w || w->to >= n || w->len >= n)
		return NULL;
	*which = w->len == NO_LENGTH ? w->to : w->len;
	/* the string's present length: these functions always end it with a NUL */
	if (w->len == NO_LENGTH)
		return text_format(code, "strlen(%s) + 1", args[w->to]);
	if (w->elements == 2)
		return text_format(code, "(%s - %s) * sizeof *%s", text_wrapped(code, args[w->len]),
				   text_wrapped(code, args[w->to]),
				   text_wrapped(code, args[w->to]));
	return w->elements ? text_format(code, "%s * sizeof *%s", text_wrapped(code, args[w->len]),
					 text_wrapped(code, args[w->to]))
			   : args[w->len];
}

/* ---- functions of the program ---- */

static const char *root_of(const struct source_node *n)
{
	while (n && n->kind != SOURCE_NAME)
		n = n->child;
	return n ? n->name : NULL;
}

/* Returns what the node stores to outside of its function; NULL: nothing. */
static const struct source_node *stored_at(const struct source_unit *u, const struct source_node *n)
{
	int i = n->kind == SOURCE_CALL ? call_writes_to(u, n) : WRITES_NOTHING;
	const struct source_node *to = i >= 0 ? call_argument(n, i) : NULL;

	if (i >= 0)
		return (to->is_array && node_is_own_variable(to)) ||
				       (to->kind == SOURCE_UNARY && to->op[0] == '&' &&
					node_is_own_variable(to->child))
			       ? NULL
			       : to;
	return node_is_assignment(n) && !node_is_own_variable(n->child) ? n->child : NULL;
}

int callee_stores_to(struct codebase *code, const struct source_unit *u,
		     const struct source_node *call)
{
	struct source_unit *in = NULL;
	const struct source_function *f = call->name ? function_named(u, call->name) : NULL;
	int found = WRITES_NOTHING;

	if (!f && call->name)
		f = function_defined(code, &in, call->name);
	for (const struct source_node *n = f ? f->body : NULL; n; n = node_next(n, f->body)) {
		const struct source_node *to = stored_at(in ? in : u, n);
		const char *root = to ? root_of(to) : NULL;
		int which = WRITES_NOTHING;

		if (!to)
			continue;
		for (size_t i = 0; root && i < f->nparameters; i++)
			if (f->parameters[i].name && strcmp(f->parameters[i].name, root) == 0 &&
			    f->parameters[i].is_pointer && f->parameters[i].target_bytes > 1)
				which = (int)i;
		if (which < 0 || (found >= 0 && which != found) ||
		    node_assigns(f->body, NULL, root))
			/* it stores through several arguments, or not through an argument */
			return WRITES_NOTHING;
		found = which;
	}
	return found;
}

/* Returns the std::array into which a.begin() or a.data() + n points; NULL: none. */
static const struct source_node *array_of(const struct source_node *pointer)
{
	const struct source_node *n = pointer ? source_bare(pointer) : NULL, *callee, *object;

	while (n && n->kind == SOURCE_BINARY && strcmp(n->op, "+") == 0 && n->child)
		n = source_bare(n->child);
	callee = n && n->kind == SOURCE_CALL && n->child && n->child == n->last
			 ? source_bare(n->child)
			 : NULL;
	object = callee && callee->kind == SOURCE_MEMBER && callee->child && !callee->is_arrow
			 ? source_bare(callee->child)
			 : NULL;
	if (!object || !object->type || !n->name ||
	    (strcmp(n->name, "begin") != 0 && strcmp(n->name, "data") != 0))
		return NULL;
	return strncmp(object->type, "std::array<", 11) == 0 ||
			       strncmp(object->type, "array<", 6) == 0
		       ? object
		       : NULL;
}

const struct source_node *call_writes_into(const struct source_unit *u,
					   const struct source_node *call)
{
	int to = call_writes_to(u, call);

	return to >= 0 ? array_of(call_argument(call, to)) : NULL;
}
