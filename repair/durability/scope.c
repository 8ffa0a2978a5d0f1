/* Writes the declaration of an object that flushes in its destructor, before a statement that
 * stores. The flush happens at the end of the block. If a later statement of the block must not
 * come before the flush, or is not understood, the statement and the object get a block of their
 * own. */
#include <ctype.h>
#include <string.h>

#include "repair/durability/internal.h"

/* Asks whether, from the statement to the end of the block, nothing publishes and no order
 * matters. */
static bool ends_soon(struct repair *r, const struct fix *x)
{
	bool is_lost = x->place && strcmp(x->place->role, "lost") == 0;

	if (x->stmt->parent->kind != SOURCE_COMPOUND)
		return false;
	for (const struct source_node *n = x->stmt->next; n; n = n->next) {
		const struct source_node *value = n->kind == SOURCE_RETURN ? n->child : n;

		if (value && (!node_is_calm(r->code, x->unit, value) ||
			      node_publishes(r->code, x->unit, x->file, value) ||
			      (is_lost && n->kind != SOURCE_RETURN)))
			return false;
	}
	return true;
}

int scope_check(struct repair *r, const struct fix *x, const char **why)
{
	*why = "the object that flushes here cannot be declared there; say which function does it with --flush-call and --fence-call";
	if (x->where != AFTER || x->stmt->parent->kind == SOURCE_LABEL ||
	    (x->stmt->kind == SOURCE_DECL && !ends_soon(r, x)))
		return -1;
	return 0;
}

/* The text contains the name as a word that is no member ("p->name" does not count). */
static bool has_name(const char *body, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = body; (p = strstr(p, name)); p += len)
		if (!isalnum((unsigned char)p[len]) && p[len] != '_' &&
		    (p == body || (!isalnum((unsigned char)p[-1]) && p[-1] != '_' && p[-1] != '.' &&
				   !(p > body + 1 && p[-1] == '>' && p[-2] == '-'))))
			return true;
	return false;
}

/* Returns a name that the function does not use yet: "guard", "guard2". */
static const char *new_name(struct repair *r, const struct fix *x, const char *name,
			    unsigned *number)
{
	const char *body = text_copy(r->code, x->file->text + x->function->begin,
				     x->function->end - x->function->begin),
		   *text = name;

	while (*number > 1 || has_name(body, text)) {
		text = text_format(r->code, "%s%u", name, *number < 2 ? 2 : *number);
		*number = *number < 2 ? 2 : *number + 1;
		if (!has_name(body, text))
			break;
	}
	return text;
}

/* Returns what is in the parentheses of a declaration. */
static const char *thing_of(struct repair *r, const char *declaration)
{
	const char *open = strpbrk(declaration, "({");

	open = strstr(declaration, "{name}") == open ? strpbrk(open + 6, "({") : open;
	return open && strlen(open) > 2 ? text_copy(r->code, open + 1, strlen(open) - 2) : "";
}

/* Returns the name that the file usually gives to objects of this class. */
static const char *usual_name(struct repair *r, const struct idiom *i, const char *declaration)
{
	const char *own = i->scope.is_named_after ? scope_name_of(r, thing_of(r, declaration)) : "";

	return own[0] ? own : i->scope.name ? i->scope.name : "guard";
}

/* The declared object, if it is the only one and acts as a pointer to `thing`; otherwise thing is
 * NULL. */
struct handle {
	const char *thing, *name;
};

/* Makes the statement store through the declared object: `++listing->halts` becomes `++*halts`.
 * Only if the statement names the thing once. */
static void store_through(struct repair *r, const struct insertion *a, const struct handle *h)
{
	struct file *f = a->x->file;
	const char *thing = h->thing ? h->thing : "", *name = h->name,
		   *text = text_copy(r->code, f->text + a->stmt->begin,
				     a->stmt->end - a->stmt->begin),
		   *at = strstr(text, thing), *behind = at ? at + strlen(thing) : NULL;
	bool is_postfix;

	if (!h->thing || !at || strstr(behind, thing) || macro_use(a->x->unit, f->path, a->stmt) ||
	    (at > text &&
	     (text_is_identifier(text_copy(r->code, at - 1, 1)) || at[-1] == '.' || at[-1] == '>')))
		return;
	is_postfix = strncmp(behind, "++", 2) == 0 || strncmp(behind, "--", 2) == 0 ||
		     behind[0] == '.' || behind[0] == '[' || strncmp(behind, "->", 2) == 0;
	if (text_is_identifier(text_copy(r->code, behind, 1)))
		return;
	file_edit(f, a->stmt->begin + (uint32_t)(at - text), (uint32_t)strlen(thing),
		  text_format(r->code, is_postfix ? "(*%s)" : "*%s", name));
}

/* The file leaves a blank line behind declarations of this class. */
static bool has_blank_line(struct repair *r, const struct insertion *a, const struct idiom *i)
{
	const struct file *f = a->x->file;
	const char *type = strstr(i->scope.call, "{name}"), *p;
	size_t len = type ? (size_t)(type - i->scope.call) : 0;

	for (p = f->text; len > 1 && (p = strstr(p, text_copy(r->code, i->scope.call, len)));
	     p += len) {
		const char *end = strchr(p, '\n');

		if (end && p > f->text && strchr("\t\n ", p[-1]) && end[-1] == ';')
			return end[1] == '\n';
	}
	return false;
}

static const char *declarations(struct repair *r, const struct insertion *a, const char *indent,
				struct handle *h)
{
	const char *text = "", *at;
	unsigned number = 1;
	struct idiom idiom;
	size_t n = 0;

	*h = (struct handle){ 0 };
	idiom_find(r, a->x, &idiom);
	for (size_t i = 0; i < a->lines.n; i++)
		n += a->lines.at[i].is_scope;
	for (size_t i = 0; i < a->lines.n; i++) {
		const char *name;

		at = a->lines.at[i].is_scope ? strstr(a->lines.at[i].text, "{name}") : NULL;
		if (!at)
			continue;
		name = new_name(r, a->x, usual_name(r, &idiom, a->lines.at[i].text), &number);
		text = text_format(r->code, "%s%.*s%s%s;\n%s", text,
				   (int)(at - a->lines.at[i].text), a->lines.at[i].text, name,
				   at + 6, indent);
		number += number == 1 && !idiom.scope.is_named_after;
		if (idiom.scope.is_handle && n == 1)
			*h = (struct handle){ thing_of(r, a->lines.at[i].text), name };
	}
	if (n && idiom.scope.call && has_blank_line(r, a, &idiom))
		text = text_format(r->code, "%.*s\n%s", (int)(strlen(text) - strlen(indent)), text,
				   indent);
	return text;
}

static void insert_block(struct repair *r, const struct insertion *a, struct handle *h)
{
	struct file *f = a->x->file;
	const char *indent = text_indent(r->code, f, a->stmt->begin),
		   *inner = text_format(r->code, "%s%s", indent,
					indent_unit(r->code, f, a->x->function));
	uint32_t end = statement_end(f, a->stmt), line = line_end_behind(f, end);

	file_edit(f, a->stmt->begin, 0,
		  text_format(r->code, "{\n%s%s", inner, declarations(r, a, inner, h)));
	for (uint32_t at = a->stmt->begin; at < end; at++)
		if (f->text[at] == '\n')
			file_edit(f, at + 1, 0, indent_unit(r->code, f, a->x->function));
	file_edit(f, line ? line : end, 0, text_format(r->code, "\n%s}", indent));
}

void scope_insert(struct repair *r, struct insertion *a)
{
	struct file *f = a->x->file;
	struct insertion braces = { .x = a->x, .stmt = a->stmt };
	struct handle h;

	/* the braces that the `if` gets are the block */
	if (a->stmt->parent->kind != SOURCE_COMPOUND) {
		insert_behind(r, &braces);
		file_edit(f, a->stmt->begin, 0,
			  declarations(r, a, text_indent(r->code, f, a->stmt->begin), &h));
	} else if (ends_soon(r, a->x)) {
		file_edit(f, a->stmt->begin, 0,
			  declarations(r, a, text_indent(r->code, f, a->stmt->begin), &h));
	} else {
		insert_block(r, a, &h);
	}
	store_through(r, a, &h); /* the edit must be behind the one at the same place */
}
