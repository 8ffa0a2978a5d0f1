/* Finds the way of functions that get a small structure by value, which says what to flush:
 * `persist(slice_of(x))`. The function is run as if the two members of the structure were its
 * parameters. A macro that makes the structure shows how to call the function. */
#include <ctype.h>
#include <string.h>

#include "repair/idiom/internal.h"

enum { MEMBERS_MAX = 4 };

struct slice {
	const char *members[MEMBERS_MAX]; /* "s.ptr" */
	uint32_t offsets[MEMBERS_MAX];
	size_t n;
};

/* Finds the members of the function's only parameter that the function uses, in the order of the
 * structure. */
static bool find_members(struct repair *r, const struct source_function *f, struct slice *s)
{
	const char *name = f->nparameters == 1 ? f->parameters[0].name : NULL;

	s->n = 0;
	for (const struct source_node *n =
		     name && f->body && !f->parameters[0].is_pointer && !f->parameters[0].is_integer
			     ? f->body
			     : NULL;
	     n; n = node_next(n, f->body)) {
		const struct source_node *of =
			n->kind == SOURCE_MEMBER && !n->is_arrow ? n->child : NULL;
		size_t at = 0;

		if (!of || of->kind != SOURCE_NAME || !of->name || strcmp(of->name, name) != 0 ||
		    !n->name)
			continue;
		while (at < s->n && s->offsets[at] < n->offset_bytes)
			at++;
		if (at < s->n && s->offsets[at] == n->offset_bytes)
			continue;
		if (s->n == MEMBERS_MAX)
			return false;
		memmove(&s->members[at + 1], &s->members[at], (s->n - at) * sizeof s->members[0]);
		memmove(&s->offsets[at + 1], &s->offsets[at], (s->n - at) * sizeof s->offsets[0]);
		s->members[at] = text_format(r->code, "%s.%s", name, n->name);
		s->offsets[at] = (uint32_t)n->offset_bytes;
		s->n++;
	}
	return s->n == 2;
}

/* Finds out which of the two members is the address, and what the function does. */
bool way_of_slice(struct repair *r, const struct source_unit *u, const struct source_function *f,
		  struct way *w)
{
	struct slice s;

	if (!(idiom_function_does(r, u, f) & DOES_FLUSH) || !find_members(r, f, &s))
		return false;
	for (int addr = 0; addr < 2; addr++) {
		struct source_parameter parameters[2] = { { .name = s.members[0],
							    .type = "void *",
							    .is_pointer = addr == 0,
							    .is_integer = addr != 0 },
							  { .name = s.members[1],
							    .type = "void *",
							    .is_pointer = addr == 1,
							    .is_integer = addr != 1 } };
		struct source_function as = *f;

		as.parameters = parameters;
		as.nparameters = 2;
		way_alone(r, u, &as, w);
		if (w->unit == WAY_RANGE)
			return true;
	}
	return false;
}

/* ---- the macro that makes the structure ---- */

/* Returns the text without blanks and parentheses. */
static const char *bare(struct repair *r, const char *from, const char *to)
{
	char *out = arena_alloc(&r->code->arena, (size_t)(to - from) + 1), *p = out;

	for (; from < to; from++)
		if (!isspace((unsigned char)*from) && !strchr("()\\", *from))
			*p++ = *from;
	*p = 0;
	return out;
}

/* Returns the type without const: "Slice", "struct slice". */
static const char *type_name(const char *type)
{
	return type && strncmp(type, "const ", 6) == 0 ? type + 6 : type ? type : "";
}

const char *way_slice_call(struct repair *r, const struct source_function *f, const char *callee,
			   const struct source_macro *m, struct way *w)
{
	const char *type = text_format(r->code, "(%s){", type_name(f->parameters[0].type)),
		   *open = m->is_function ? strstr(m->text, type) : NULL;
	const char *close = open ? strchr(open, '}') : NULL,
		   *comma = close ? strchr(open, ',') : NULL, *names = strchr(m->text, '(');
	const char *names_end = names ? strchr(names, ')') : NULL,
		   *middle = names_end ? memchr(names, ',', (size_t)(names_end - names)) : NULL;
	const char *given[2], *addr, *len, *first, *second;

	if (!comma || comma > close || !names_end || names_end > open ||
	    memchr(comma + 1, ',', (size_t)(close - comma - 1)))
		return NULL;
	given[0] = bare(r, open + strlen(type), comma);
	given[1] = bare(r, comma + 1, close);
	addr = given[w->addr];
	len = given[w->len];
	first = bare(r, names + 1, middle ? middle : names_end);
	second = middle ? bare(r, middle + 1, names_end) : "";
	if (!middle && strcmp(addr, text_format(r->code, "&%s", first)) == 0 &&
	    strcmp(len, text_format(r->code, "sizeof%s", first)) == 0) {
		*w = (struct way){
			.unit = WAY_THING, .does = w->does, .addr = 0, .len = WAY_NO_ARGUMENT
		};
		return text_format(r->code, "%s(%s({addr}))", callee, m->name);
	}
	if (middle && strcmp(addr, first) == 0 && strcmp(len, second) == 0)
		return text_format(r->code, "%s(%s({addr}, {len}))", callee, m->name);
	if (middle && strcmp(addr, second) == 0 && strcmp(len, first) == 0)
		return text_format(r->code, "%s(%s({len}, {addr}))", callee, m->name);
	return NULL;
}
