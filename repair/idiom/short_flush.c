/* Corrects a helper that misses the last line of a range which begins inside a line. Such a helper
 * steps from the address and not from the beginning of its line:
 *
 *   for (char *p = addr; p < (char *)addr + len; p += 64)   // addr 48, len 96: misses line 2
 *           clwb(p);
 *
 * Each possible edit is tried by running the helper with it (run.c): round the stepped pointer
 * down; count the length from the beginning of the first line; or both, if the loop counts up to
 * the length from that pointer. */
#include <string.h>

#include "repair/idiom/internal.h"
#include "source/source.h"

static bool is_name(const struct source_node *n, const char *name)
{
	n = source_bare(n);
	return n && n->kind == SOURCE_NAME && n->name && strcmp(n->name, name) == 0;
}

static bool names(const struct source_node *top, const char *name)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (is_name(n, name))
			return true;
	return false;
}

/* Returns the number of bytes per line as the helper writes it: the name of a constant, or "64". */
static const char *line_bytes(const struct short_helper *h)
{
	for (const struct source_node *n = h->f->body; n; n = node_next(n, h->f->body)) {
		const char *text =
			n->has_value && n->value == 64
				? text_copy(h->r->code, h->file->text + n->begin, n->end - n->begin)
				: NULL;

		if (text && text_is_identifier(text))
			return text;
	}
	return "64";
}

/* Returns an integer type that holds a pointer: that of <stdint.h> if a header gives it to the
 * file, else the type of the length. */
const char *short_integer_type(const struct short_helper *h)
{
	for (size_t i = 0; i < h->u->nmacros; i++)
		if (strcmp(h->u->macros[i].name, "UINTPTR_MAX") == 0)
			return h->u->is_cplusplus && strstr(h->file->text, "std::")
				       ? "std::uintptr_t"
				       : "uintptr_t";
	return h->len_type;
}

/* Asks whether the file uses C++ casts, which need parentheses. */
static bool has_casts(const struct short_helper *h)
{
	return h->u->is_cplusplus && (strstr(h->file->text, "reinterpret_cast<") ||
				      strstr(h->file->text, "static_cast<"));
}

const char *short_cast(const struct short_helper *h, const char *type, const char *text)
{
	return has_casts(h) ? text_format(h->r->code, "reinterpret_cast<%s>(%s)", type, text)
			    : text_format(h->r->code, "(%s)%s", type, text);
}

/* Writes "(char *)((uintptr_t)addr & ~(uintptr_t)(LINE - 1))". */
const char *short_rounded_down(const struct short_helper *h, const char *type, bool is_pointer)
{
	const char *integer = short_integer_type(h);
	const char *text = text_format(h->r->code, "%s & ~(%s)%s", short_cast(h, integer, h->addr),
				       integer, h->mask);

	if (!is_pointer)
		return text;
	return short_cast(h, type, text_format(h->r->code, has_casts(h) ? "%s" : "(%s)", text));
}

/* Returns the expression if a variable is set to the address, and the variable's type in *type;
 * NULL otherwise. */
static const struct source_node *start_at(const struct short_helper *h, const struct source_node *n,
					  const char **type)
{
	const struct source_node *value = n->kind == SOURCE_VARIABLE ? n->last
					  : n->kind == SOURCE_BINARY && strcmp(n->op, "=") == 0
						  ? n->last
						  : NULL;

	if (!value || (value == n->child && n->kind == SOURCE_BINARY))
		return NULL;
	*type = n->kind == SOURCE_VARIABLE ? n->type : n->child->type;
	return is_name(value, h->addr) && *type ? value : NULL;
}

static bool round_down(const struct short_helper *h, struct idiom_mend *out)
{
	for (const struct source_node *n = h->f->body; n; n = node_next(n, h->f->body)) {
		const char *type;
		const struct source_node *start = start_at(h, n, &type);

		if (!start || !way_is_whole(h->r, h->u, h->f, start, false) ||
		    macro_use(h->u, h->file->path, start))
			continue;
		*out = (struct idiom_mend){ start->begin, start->end - start->begin,
					    short_rounded_down(h, type,
							       strchr(type, '*') != NULL) };
		return true;
	}
	return false;
}

/* Returns the statement before which the length may be changed; NULL: there is none. */
static const struct source_node *lengthen_before(const struct short_helper *h)
{
	const struct source_node *s = h->f->body->child;

	while (s && s->kind == SOURCE_DECL && !names(s, h->len))
		s = s->next;
	return !s || s->kind == SOURCE_DECL || strstr(h->len_type, "const") ||
			       !text_begins_line(h->file, s->begin)
		       ? NULL
		       : s;
}

/* Tries: char *line = (char *)((uintptr_t)addr & ~63); … len += (char *)addr - line; */
static bool round_and_lengthen(const struct short_helper *h, struct idiom_mend *out)
{
	const struct source_node *before = lengthen_before(h);

	for (const struct source_node *n = before ? h->f->body : NULL; n;
	     n = node_next(n, h->f->body)) {
		const char *type;
		const struct source_node *start = start_at(h, n, &type);

		if (!start || n->kind != SOURCE_VARIABLE || n->end > before->begin ||
		    !strstr(type, "char") || !way_is_whole(h->r, h->u, h->f, start, true) ||
		    macro_use(h->u, h->file->path, start))
			continue;
		*out = (struct idiom_mend){
			start->begin, before->begin - start->begin,
			text_format(h->r->code, "%s%.*s%s += %s - %s;\n%s",
				    short_rounded_down(h, type, true),
				    (int)(before->begin - start->end), h->file->text + start->end,
				    h->len, text_of(h->r->code, h->file, start), n->name,
				    text_indent(h->r->code, h->file, before->begin))
		};
		return true;
	}
	return false;
}

static bool lengthen(const struct short_helper *h, struct idiom_mend *out)
{
	const struct source_node *s = lengthen_before(h);
	const char *integer = short_integer_type(h);

	if (!s || !way_is_whole(h->r, h->u, h->f, NULL, true))
		return false;
	*out = (struct idiom_mend){ s->begin, 0,
				    text_format(h->r->code, "%s\n%s%s += %s & %s;\n%s",
						h->u->is_cplusplus
							? "// from where the first line begins"
							: "/* from where the first line begins */",
						text_indent(h->r->code, h->file, s->begin), h->len,
						short_cast(h, integer, h->addr), h->mask,
						text_indent(h->r->code, h->file, s->begin)) };
	return true;
}

/* Tries to lengthen the range where the length is used, if that is at one place only. */
static bool lengthen_there(const struct short_helper *h, struct idiom_mend *out)
{
	const struct source_node *found = NULL;
	const char *text;
	bool is_plain;

	for (const struct source_node *n = h->f->body; n; n = node_next(n, h->f->body)) {
		if (n->kind != SOURCE_NAME || !is_name(n, h->len))
			continue;
		if (found || node_is_assignment(n->parent) || macro_use(h->u, h->file->path, n))
			return false;
		found = n;
	}
	if (!found || node_assigns(h->f->body, NULL, h->addr) ||
	    !way_is_whole(h->r, h->u, h->f, NULL, true))
		return false;
	is_plain = found->parent->kind == SOURCE_VARIABLE || strcmp(found->parent->op, "+") == 0 ||
		   found->parent->op[0] == '<';
	text = text_format(h->r->code, "%s + (%s & %s)", h->len,
			   short_cast(h, short_integer_type(h), h->addr), h->mask);
	*out = (struct idiom_mend){ found->begin, found->end - found->begin,
				    is_plain ? text : text_format(h->r->code, "(%s)", text) };
	return true;
}

bool short_helper_init(struct short_helper *h, struct repair *r, const struct source_unit *u,
		       const struct source_function *f, int addr, int len)
{
	*h = (struct short_helper){ .r = r, .u = u, .f = f, .file = file_open(r->code, f->file) };
	if (addr < 0 || len < 0 || !h->file || !f->parameters[addr].name ||
	    !f->parameters[len].name)
		return false;
	h->addr = f->parameters[addr].name;
	h->len = f->parameters[len].name;
	h->len_type = f->parameters[len].type;
	h->line = line_bytes(h);
	h->mask = text_is_identifier(h->line) ? text_format(r->code, "(%s - 1)", h->line) : "63";
	return true;
}

bool idiom_mend_short(struct repair *r, const struct source_unit *u,
		      const struct source_function *helper, struct idiom_mend *out)
{
	const struct way *w = way_of_function(r, u, helper);
	struct short_helper h;

	if (!w->is_short || !short_helper_init(&h, r, u, helper, w->addr, w->len))
		return false;
	return round_down(&h, out) || round_and_lengthen(&h, out) || lengthen(&h, out) ||
	       lengthen_there(&h, out);
}
