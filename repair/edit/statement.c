/* Finds where statements end in the text, and how they are indented. What follows a statement in
 * its line decides where something can be added. */
#include <string.h>

#include "repair/edit/internal.h"

/* Returns the blanks of one step of indentation, taken from the function's first statement. */
const char *indent_unit(struct codebase *code, const struct file *f,
			const struct source_function *fn)
{
	const struct source_node *first = fn->body->child;
	const char *outer = text_indent(code, f, fn->body->begin), *inner;

	if (first && text_line_begin(f, first->begin) != text_line_begin(f, fn->body->begin)) {
		inner = text_indent(code, f, first->begin);
		if (strlen(inner) > strlen(outer))
			return inner + strlen(outer);
	}
	return "\t";
}

uint32_t statement_end(const struct file *f, const struct source_node *stmt)
{
	uint32_t after = text_semicolon(f, stmt->end);

	if (stmt->kind == SOURCE_DECL || stmt->kind == SOURCE_COMPOUND ||
	    stmt->kind == SOURCE_FOR || stmt->kind == SOURCE_WHILE || stmt->kind == SOURCE_IF)
		return stmt->last && stmt->kind != SOURCE_DECL &&
				       stmt->last->kind != SOURCE_COMPOUND
			       ? (after ? after : stmt->end)
			       : stmt->end;
	return after ? after : stmt->end;
}

/* Returns the end of the line, if only comments are behind `at`; a comment may continue in the next
 * lines. 0: code follows. */
uint32_t line_end_behind(const struct file *f, uint32_t at)
{
	for (;;) {
		const char *stop;

		while (at < f->len_bytes && strchr(" \t\r", f->text[at]))
			at++;
		if (at == f->len_bytes || f->text[at] == '\n')
			return at;
		if (f->text[at] == '/' && f->text[at + 1] == '/')
			return text_line_end(f, at);
		stop = f->text[at] == '/' && f->text[at + 1] == '*' ? strstr(f->text + at + 2, "*/")
								    : NULL;
		if (!stop)
			return 0;
		at = (uint32_t)(stop - f->text) + 2;
	}
}

/* Removes the statement with its lines and the comment behind it, if nothing else is on them. */
void statement_remove(struct file *f, const struct source_node *stmt)
{
	uint32_t begin = stmt->begin,
		 end = stmt->kind == SOURCE_DECL ? stmt->end : text_semicolon(f, stmt->end),
		 first = text_line_begin(f, begin), last = text_line_end(f, end);

	while (begin > first && strchr(" \t", f->text[begin - 1]))
		begin--;
	if (begin == first && text_skip_blanks(f, end) >= last) {
		end = last < f->len_bytes ? last + 1 : last;
	} else if (begin == first) { /* something follows in the line: its indentation stays */
		begin = stmt->begin;
		end = text_skip_blanks(f, end);
	}
	file_edit(f, begin, end - begin, "");
}
