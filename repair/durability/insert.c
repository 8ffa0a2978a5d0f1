/* Writes lines behind a statement, with braces and a temporary if needed, or into an expression
 * behind a comma. The style is that of the file. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repair/durability/internal.h"
#include "util/str.h"

/* Asks whether most control statements of the file have their brace on a line of its own. */
static bool is_allman(const struct fix *x)
{
	unsigned own = 0, same = 0;

	for (size_t i = 0; i < x->unit->nfunctions; i++) {
		const struct source_function *f = &x->unit->functions[i];

		if (!f->body || strcmp(f->file, x->file->path) != 0)
			continue;
		for (const struct source_node *n = f->body->child; n; n = node_next(n, f->body)) {
			uint32_t at = n->begin;

			if (n->kind != SOURCE_COMPOUND || !n->parent ||
			    n->parent->kind == SOURCE_COMPOUND || x->file->text[at] != '{')
				continue;
			while (at > 0 &&
			       (x->file->text[at - 1] == ' ' || x->file->text[at - 1] == '\t'))
				at--;
			*(at > 0 && x->file->text[at - 1] == '\n' ? &own : &same) += 1;
		}
	}
	return own > same;
}

static bool needs_braces(const struct source_node *stmt)
{
	const struct source_node *p = stmt->parent;

	while (p->kind == SOURCE_LABEL)
		p = p->parent;
	return p->kind != SOURCE_COMPOUND;
}

/* Prints a line of code. If the code has several lines, those after the first are indented
 * further. */
static void print_line(FILE *f, const char *text, const char *indent, const char *unit,
		       const char *comment)
{
	fprintf(f, "\n%s", indent);
	for (const char *p = text; *p; p++) {
		fputc(*p, f);
		if (*p == '\n') {
			fputs(indent, f);
			fputs(unit, f);
			p++;
		}
	}
	fprintf(f, ";%s", comment);
}

/* Prints lines [from, to), which have the same guard. */
static void print_guarded(struct repair *r, FILE *f, const struct insertion *a, size_t from,
			  size_t to, const char *indent, const char *unit, const char *comment)
{
	const char *directive = guard_directive(r, a->lines.at[from].guard),
		   *test = guard_test(a->lines.at[from].guard), *inner = indent;
	bool is_braced = test && (to - from > 1 || strchr(a->lines.at[from].text, '\n'));

	if (directive)
		fprintf(f, "\n%s", directive);
	if (test) {
		fprintf(f,
			is_braced && is_allman(a->x) ? "\n%s%s\n%s{"
			: is_braced                  ? "\n%s%s%.0s {"
						     : "\n%s%s%.0s",
			indent, test, indent);
		inner = text_format(r->code, "%s%s", indent, unit);
	}
	for (size_t i = from; i < to; i++)
		print_line(f, a->lines.at[i].text, inner, unit, i == 0 ? comment : "");
	if (is_braced)
		fprintf(f, "\n%s}", indent);
	if (directive)
		fprintf(f, "\n%.*s#endif", (int)strspn(directive, " \t"), directive);
}

static const char *lines_text(struct repair *r, const struct insertion *a, const char *indent,
			      const char *unit)
{
	const char *comment = !r->options->is_explained ? ""
			      : a->comment              ? a->comment
							: " /* pmend: makes the store durable */",
		   *copy;
	char *out = NULL;
	size_t room = 0, to;
	FILE *f = open_memstream(&out, &room);

	for (size_t i = 0; i < a->lines.n; i = to) {
		for (to = i + 1;
		     to < a->lines.n && str_same(a->lines.at[i].guard, a->lines.at[to].guard); to++)
			;
		print_guarded(r, f, a, i, to, indent, unit, comment);
	}
	fclose(f);
	copy = text_copy(r->code, out, strlen(out));
	free(out);
	return copy;
}

/* Returns the lines as one line of text, for a place where no #if can stand. */
static const char *lines_inline(struct repair *r, const struct insertion *a)
{
	const char *text = "";

	for (size_t i = 0; i < a->lines.n; i++) {
		const char *test = guard_test(a->lines.at[i].guard);

		text = text_format(r->code, "%s %s%s%s;", text, test ? test : "", test ? " " : "",
				   a->lines.at[i].text);
	}
	return text;
}

/* Returns the place of the "else" that follows the statement, or of the "while" of a do; 0 if none
 * follows. */
static uint32_t keyword_behind(const struct file *f, const struct source_node *stmt, uint32_t end)
{
	uint32_t at = text_skip_blanks(f, end);
	const char *word = stmt->parent->kind == SOURCE_DO ? "while" : "else";

	/* an "else" may belong to an outer `if` */
	if (stmt->parent->kind != SOURCE_DO && !(stmt->parent->kind == SOURCE_IF && stmt->next))
		return 0;
	return strncmp(f->text + at, word, strlen(word)) == 0 &&
			       !isalnum((unsigned char)f->text[at + strlen(word)])
		       ? at
		       : 0;
}

static void insert_braced(struct repair *r, struct insertion *a)
{
	struct file *f = a->x->file;
	const struct source_node *stmt = a->stmt;
	const char *outer, *unit = indent_unit(r->code, a->x->file, a->x->function), *inner;
	uint32_t end = statement_end(f, stmt), head = stmt->begin,
		 keyword = keyword_behind(f, stmt, end), at;
	bool allman = is_allman(a->x), own_line;

	while (head > 0 && isspace((unsigned char)f->text[head - 1]))
		head--;
	outer = text_indent(r->code, f,
			    stmt->parent->kind == SOURCE_IF && head > 4 &&
					    strncmp(f->text + head - 4, "else", 4) == 0
				    ? head - 1
				    : stmt->parent->begin);
	inner = text_format(r->code, "%s%s", outer, unit);
	own_line = memchr(f->text + head, '\n', stmt->begin - head) != NULL;
	at = line_end_behind(f, end);
	if (!own_line && !keyword && !at) { /* several statements share the line */
		file_edit(f, head, stmt->begin - head, " { ");
		file_edit(f, end, 0, text_format(r->code, "%s }", lines_inline(r, a)));
		return;
	}
	if (own_line)
		file_edit(f, head, 0, allman ? text_format(r->code, "\n%s{", outer) : " {");
	else
		file_edit(f, head, stmt->begin - head,
			  text_format(r->code, allman ? "\n%s{\n%s" : " {%.0s\n%s", outer, inner));
	if (own_line)
		inner = text_indent(r->code, f, stmt->begin);
	if (!at || (keyword && at > keyword))
		at = end;
	if (!keyword || allman) {
		file_edit(f, at, 0,
			  text_format(r->code, "%s\n%s}", lines_text(r, a, inner, unit), outer));
		return;
	}
	file_edit(f, at, 0, lines_text(r, a, inner, unit));
	/* the blanks before "else" are replaced, to write "} else" */
	while (keyword > at && isspace((unsigned char)f->text[keyword - 1]))
		keyword--;
	file_edit(f, keyword, text_skip_blanks(f, keyword) - keyword,
		  text_format(r->code, "\n%s} ", outer));
}

static void insert_after(struct repair *r, struct insertion *a)
{
	struct file *f = a->x->file;
	uint32_t end = statement_end(f, a->stmt), begin = text_line_begin(f, a->stmt->begin);
	const char *indent = text_indent(r->code, f, a->stmt->begin),
		   *unit = indent_unit(r->code, a->x->file, a->x->function);
	bool is_alone = true;

	/* A statement behind a label or another statement: take the indentation of its line. A
	 * label's statement is indented further. */
	for (uint32_t i = begin; i < a->stmt->begin; i++)
		is_alone &= f->text[i] == ' ' || f->text[i] == '\t';
	if (!is_alone && a->stmt->parent->kind == SOURCE_LABEL)
		indent = text_format(r->code, "%s%s", indent, unit);
	if (line_end_behind(f, end))
		file_edit(f, line_end_behind(f, end), 0, lines_text(r, a, indent, unit));
	else
		file_edit(f, end, 0, lines_inline(r, a));
}

/* Turns `return E;` into `T result = E; … return result;`. */
static void make_temporary(struct repair *r, struct insertion *a)
{
	const struct source_node *stmt = a->stmt;
	struct file *f = a->x->file;
	const char *body = text_copy(r->code, f->text + a->x->function->begin,
				     a->x->function->end - a->x->function->begin);
	const char *name = strstr(body, "result") ? "pmend_result" : "result";
	const char *space = a->result_type[strlen(a->result_type) - 1] == '*' ? "" : " ";
	/* without parentheses, the comma would begin another variable */
	bool has_comma = stmt->child->kind == SOURCE_BINARY && strcmp(stmt->child->op, ",") == 0;
	uint32_t value = text_skip_blanks(f, stmt->begin + 6);

	file_edit(f, stmt->begin, value - stmt->begin,
		  text_format(r->code, "%s%s%s = %s", a->result_type, space, name,
			      has_comma ? "(" : ""));
	if (has_comma)
		file_edit(f, stmt->child->end, 0, ")");
	*vec_add(&a->lines) =
		(struct idiom_line){ .text = text_format(r->code, "return %s", name) };
}

void insert_behind(struct repair *r, struct insertion *a)
{
	if (a->result_type)
		make_temporary(r, a);
	if (needs_braces(a->stmt))
		insert_braced(r, a);
	else
		insert_after(r, a);
}

/* ---- expressions ---- */

static bool is_in_parentheses(const struct file *f, const struct source_node *n)
{
	const struct source_node *p = n->parent;

	return p && ((p->kind == SOURCE_EXPR && p->begin < n->begin && f->text[p->begin] == '(' &&
		      text_skip_blanks(f, p->begin + 1) == n->begin) ||
		     p->kind == SOURCE_IF || p->kind == SOURCE_WHILE || p->kind == SOURCE_SWITCH ||
		     p->kind == SOURCE_FOR);
}

/* Writes (void) before the whole expression if nobody uses its value: otherwise compilers warn of
 * its last operand. */
static void discard_value(const struct fix *x)
{
	const struct source_node *n = x->store;

	while (n->parent &&
	       (n->parent->kind == SOURCE_EXPR || n->parent->kind == SOURCE_CONDITIONAL ||
		(n->parent->kind == SOURCE_BINARY && !node_is_assignment(n->parent))))
		n = n->parent;
	for (size_t i = 0; i < x->file->edits.n; i++)
		if (x->file->edits.at[i].at == n->begin &&
		    strcmp(x->file->edits.at[i].insert, "(void)(") == 0)
			return; /* another store of the statement has added it */
	if (n->parent &&
	    (n->parent->kind == SOURCE_COMPOUND ||
	     (n->parent->kind == SOURCE_LABEL && n == n->parent->last)) &&
	    x->value) {
		file_edit(x->file, n->begin, 0, "(void)(");
		file_edit(x->file, n->end, 0, ")");
	}
}

void insert_in_expression(struct repair *r, const struct fix *x, const struct idiom_line *lines)
{
	bool is_bare = !x->value || is_in_parentheses(x->file, x->store);
	const char *text = "";

	for (size_t i = 0; lines[i].text; i++)
		text = text_format(r->code, "%s, %s", text, lines[i].text);
	if (x->value)
		text = text_format(r->code, "%s, %s", text, x->value);
	discard_value(x);
	if (!is_bare)
		file_edit(x->file, x->store->begin, 0, "(");
	file_edit(x->file, x->store->end, 0, is_bare ? text : text_format(r->code, "%s)", text));
}
