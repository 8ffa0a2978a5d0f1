/* Writes the declaration of an object that flushes when it ends before a statement that stores. Where what follows in the block must not come first, or is not seen through, the statement
 * and the object get a block of their own. */
#include <string.h>

#include "repair/durability/internal.h"

/* Nothing behind the statement may be seen, or publish, before the block ends. */
static bool ends_soon(struct repair *r, const struct fix *x)
{
	bool is_lost = x->place && strcmp(x->place->role, "lost") == 0;

	if (x->stmt->parent->kind != SOURCE_COMPOUND)
		return false;
	for (const struct source_node *n = x->stmt->next; n; n = n->next) {
		const struct source_node *value = n->kind == SOURCE_RETURN ? n->child : n;

		if (value && (!node_is_calm(r->code, x->unit, value) || node_publishes(r->code, x->unit, x->file, value) || (is_lost && n->kind != SOURCE_RETURN)))
			return false;
	}
	return true;
}

int scope_check(struct repair *r, const struct fix *x, const char **why)
{
	*why = "the object that flushes here cannot be declared there; say which function does it with --flush-call and --fence-call";
	if (x->where != AFTER || x->stmt->parent->kind == SOURCE_LABEL || (x->stmt->kind == SOURCE_DECL && !ends_soon(r, x)))
		return -1;
	return 0;
}

/* A name that the function does not have yet: "guard", "guard2". */
static const char *new_name(struct repair *r, const struct fix *x, const char *name, unsigned *number)
{
	const char *body = text_copy(r->code, x->file->text + x->function->begin, x->function->end - x->function->begin), *text = name;

	while (*number > 1 || text_has_word(body, text)) {
		text = text_format(r->code, "%s%u", name, *number < 2 ? 2 : *number);
		*number = *number < 2 ? 2 : *number + 1;
		if (!text_has_word(body, text))
			break;
	}
	return text;
}

/* The name that objects of this class have in the file. */
static const char *usual_name(struct repair *r, const struct fix *x)
{
	struct idiom i;

	idiom_find(r, x, &i);
	return i.scope.name ? i.scope.name : "guard";
}

static const char *declarations(struct repair *r, const struct insertion *a, const char *indent)
{
	const char *text = "", *at;
	unsigned number = 1;

	for (size_t i = 0; i < a->lines.n; i++) {
		at = a->lines.at[i].is_scope ? strstr(a->lines.at[i].text, "{name}") : NULL;
		if (!at)
			continue;
		text = text_format(r->code, "%s%.*s%s%s;\n%s", text, (int)(at - a->lines.at[i].text), a->lines.at[i].text, new_name(r, a->x, usual_name(r, a->x), &number), at + 6, indent);
		number += number == 1;
	}
	return text;
}

static void insert_block(struct repair *r, const struct insertion *a)
{
	struct file *f = a->x->file;
	const char *indent = text_indent(r->code, f, a->stmt->begin), *inner = text_format(r->code, "%s%s", indent, indent_unit(r->code, f, a->x->function));
	uint32_t end = statement_end(f, a->stmt), line = line_end_behind(f, end);

	file_edit(f, a->stmt->begin, 0, text_format(r->code, "{\n%s%s", inner, declarations(r, a, inner)));
	for (uint32_t at = a->stmt->begin; at < end; at++)
		if (f->text[at] == '\n')
			file_edit(f, at + 1, 0, indent_unit(r->code, f, a->x->function));
	file_edit(f, line ? line : end, 0, text_format(r->code, "\n%s}", indent));
}

void scope_insert(struct repair *r, struct insertion *a)
{
	struct file *f = a->x->file;
	struct insertion braces = { .x = a->x, .stmt = a->stmt };

	if (a->stmt->parent->kind != SOURCE_COMPOUND) { /* the braces of an `if` are the block */
		insert_behind(r, &braces);
		file_edit(f, a->stmt->begin, 0, declarations(r, a, text_indent(r->code, f, a->stmt->begin)));
	} else if (ends_soon(r, a->x)) {
		file_edit(f, a->stmt->begin, 0, declarations(r, a, text_indent(r->code, f, a->stmt->begin)));
	} else {
		insert_block(r, a);
	}
}
