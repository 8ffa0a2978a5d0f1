/* Writes a transaction: its first and last line, and one more step of indentation for what is
 * between. If the program's own transaction grows, its lines are moved. */
#include <limits.h>
#include <string.h>

#include "repair/tx/internal.h"

static bool is_declared(const struct source_unit *u, const char *name)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		if (strcmp(u->functions[i].name, name) == 0)
			return true;
	return false;
}

/* Returns the place for an #include: behind the last #include <> under the fewest conditions (a
 * header has one condition around everything), or else behind the last #include. */
static uint32_t include_place(const struct file *f, uint32_t limit)
{
	uint32_t at = 0, found = 0;
	int depth = 0, rank = INT_MAX;

	while (at < f->len_bytes && at < limit) {
		uint32_t end = text_line_end(f, at), word = at + 1;

		while (word < end && (f->text[word] == ' ' || f->text[word] == '\t'))
			word++;
		if (f->text[at] == '#' && strncmp(f->text + word, "if", 2) == 0)
			depth++;
		else if (f->text[at] == '#' && strncmp(f->text + word, "endif", 5) == 0)
			depth--;
		else if (f->text[at] == '#' && strncmp(f->text + word, "include", 7) == 0 &&
			 2 * depth + !memchr(f->text + word, '<', end - word) <= rank) {
			rank = 2 * depth + !memchr(f->text + word, '<', end - word);
			found = end + 1;
		}
		at = end + 1;
	}
	return found;
}

static void include_stdlib(struct tx *t)
{
	struct file *f = t->x.file;

	if (is_declared(t->x.unit, "abort"))
		return;
	for (size_t i = 0; i < f->edits.n; i++)
		if (strstr(f->edits.at[i].insert, "#include <stdlib.h>"))
			return;
	file_edit(f, include_place(f, t->x.function->begin), 0, "#include <stdlib.h>\n");
}

/* ---- the new lines ---- */

static bool is_scalar(const char *type)
{
	static const char *const words[] = { "int",      "long",     "short",  "char",
					     "bool",     "unsigned", "size_t", "uint64_t",
					     "uint32_t", "int64_t",  "*" };

	for (size_t i = 0; !strpbrk(type, "({") && i < sizeof words / sizeof *words; i++)
		if (strstr(type, words[i]) &&
		    (!strstr(type, "struct") || type[strlen(type) - 1] == '*'))
			return true;
	return false;
}

/* Returns the indentation of the first statement. A label is further out, and so is another
 * statement in the same line. */
static const char *indent_of(struct repair *r, const struct tx *t)
{
	const struct source_node *n = t->first;

	while (n->kind == SOURCE_LABEL && n->last && text_begins_line(t->x.file, n->last->begin))
		n = n->last;
	return text_format(r->code, "%s%s", text_indent(r->code, t->x.file, n->begin),
			   text_begins_line(t->x.file, t->first->begin)
				   ? ""
				   : indent_unit(r->code, t->x.file, t->x.function));
}

/* Asks whether a jump may cross a declaration of the transaction: the function has a label behind
 * the transaction's begin. In C++, no jump may cross an initialisation. */
static bool may_be_jumped_over(const struct tx *t)
{
	const struct source_node *body = t->x.function->body;

	for (const struct source_node *n = body; t->x.unit->is_cplusplus && n;
	     n = node_next(n, body))
		if (n->kind == SOURCE_LABEL && n->begin > t->first->begin)
			return true;
	return false;
}

static const char *declare(struct repair *r, const struct tx *t, const char *indent,
			   const char *type, const char *name, bool has_value)
{
	if (has_value && may_be_jumped_over(t))
		return text_format(r->code, "%s%s%s;\n%s%s = 0;\n", indent, type, name, indent,
				   name);
	return text_format(r->code, "%s%s%s%s;\n", indent, type, name, has_value ? " = 0" : "");
}

/* Returns the place where to declare the result variable: behind the declarations at the beginning
 * of the block, as usual in C. 0: directly before the transaction. */
static uint32_t variable_place(const struct tx *t, bool *is_alone)
{
	const struct source_node *last = NULL;

	if (t->x.unit->is_cplusplus || t->block->kind != SOURCE_COMPOUND ||
	    text_has_directive(t->x.file, t->block->begin, t->first->begin))
		return 0;
	for (const struct source_node *n = t->block->child; n != t->first && n->kind == SOURCE_DECL;
	     n = n->next)
		last = n;
	*is_alone = !last;
	return line_end_behind(t->x.file,
			       last ? statement_end(t->x.file, last) : t->block->begin + 1);
}

static void declare_variable(struct repair *r, const struct tx *t)
{
	bool is_alone;
	uint32_t at = t->zero ? variable_place(t, &is_alone) : 0;

	if (at)
		file_edit(t->x.file, at, 0,
			  text_format(r->code, "\n%sint %s = 0;%s", indent_of(r, t), t->variable,
				      is_alone ? "\n" : ""));
}

static const char *declarations_of(struct repair *r, const struct tx *t, const char *indent)
{
	const char *text = "";
	bool has_value = t->result && is_scalar(t->result_type), is_alone;

	if (t->result)
		text = declare(
			r, t, indent,
			text_format(r->code, "%s%s%s", t->result_type,
				    t->result_type[strlen(t->result_type) - 1] == '*' ? "" : " ",
				    has_value ? "volatile " : ""),
			t->result, has_value);
	if (t->flag)
		text = text_format(r->code, "%s%s", text,
				   declare(r, t, indent, "volatile int ", t->flag, true));
	if (t->aborted)
		text = text_format(r->code, "%s%s", text,
				   declare(r, t, indent, "volatile int ", t->aborted, true));
	if (t->zero && !variable_place(t, &is_alone))
		text = text_format(r->code, "%s%sint %s = 0;\n", text, indent, t->variable);
	for (size_t i = 0; i < t->declarations.n; i++)
		text = text_format(r->code, "%s%s%s\n", text, indent, t->declarations.at[i]);
	return *text ? text_format(r->code, "%s\n", text) : text;
}

static void emit_begin(struct repair *r, const struct tx *t)
{
	struct file *f = t->x.file;
	const char *indent = indent_of(r, t),
		   *comment = r->options->is_explained
				      ? " /* pmend: these stores become durable together */"
				      : "";
	const char *head = t->wrapper ? text_format(r->code, "%s%s%s", t->wrapper,
						    t->capture[0] == ',' ? t->pool : "", t->capture)
				      : text_format(r->code, "TX_BEGIN(%s) {", t->pool);
	const char *text = text_format(r->code, "%s%s%s%s\n", declarations_of(r, t, indent), indent,
				       head, comment);

	if (text_begins_line(f, t->first->begin))
		file_edit(f, text_line_begin(f, t->first->begin), 0, text);
	else
		file_edit(f, t->first->begin, 0,
			  text_format(r->code, "\n%s%s%s", text, indent,
				      indent_unit(r->code, t->x.file, t->x.function)));
}

/* Returns the text behind the transaction that does the returns which were inside. */
static const char *after_text(struct repair *r, const struct tx *t, const char *indent,
			      const char *unit)
{
	const char *what = t->result ? text_format(r->code, "return %s;", t->result) : "return;",
		   *text = "";

	if (t->aborted)
		text = text_format(r->code, "\n%sif (%s)\n%s%sreturn %s;", indent, t->aborted,
				   indent, unit, t->error);
	if (t->flag)
		text = text_format(r->code, "%s\n%sif (%s)\n%s%s%s", text, indent, t->flag, indent,
				   unit, what);
	if (t->returns_at_end)
		text = text_format(r->code, "%s\n%s%s", text, indent, what);
	return text;
}

static void emit_end(struct repair *r, const struct tx *t)
{
	struct file *f = t->x.file;
	const char *indent = indent_of(r, t),
		   *unit = indent_unit(r->code, t->x.file, t->x.function),
		   *rest = text_format(r->code, "\n%s", text_indent(r->code, f, t->first->begin));
	const char *ending = t->variable  ? text_format(r->code, "%s = %s;", t->variable, t->error)
			     : t->aborted ? text_format(r->code, "%s = 1;", t->aborted)
					  : tx_ending(r, t);
	uint32_t end = statement_end(f, t->last), at = line_end_behind(f, end);

	if (t->wrapper) {
		file_edit(f, at ? at : end, 0,
			  text_format(r->code, "\n%s});%s", indent, at ? "" : rest));
		return;
	}
	if (t->zero)
		file_edit(f, t->zero->text_begin, t->zero->text_end - t->zero->text_begin,
			  t->variable);
	file_edit(f, at ? at : end, 0,
		  text_format(r->code, "%s\n%s} TX_ONABORT {\n%s%s%s\n%s} TX_END%s%s",
			      t->label ? text_format(r->code, "\n%s%s:;", indent, t->label) : "",
			      indent, indent, unit, ending, indent, after_text(r, t, indent, unit),
			      at ? "" : rest));
}

/* Moves the first and the last line of an existing transaction outwards. */
static void move_head(struct repair *r, const struct tx *t)
{
	struct file *f = t->x.file;

	if (t->first == t->old)
		return;
	file_edit(f, text_line_begin(f, t->first->begin), 0,
		  text_format(r->code, "%s%s\n", text_indent(r->code, f, t->first->begin),
			      text_copy(r->code, f->text + t->head_begin,
					t->head_end - t->head_begin)));
	tx_cut(f, t->head_begin, t->head_end);
}

static void move_tail(struct repair *r, const struct tx *t)
{
	struct file *f = t->x.file;
	uint32_t end = statement_end(f, t->last), at = line_end_behind(f, end);

	if (t->last == t->old)
		return;
	tx_cut(f, t->tail_begin, t->tail_end);
	file_edit(f, at ? at : end, 0,
		  text_format(r->code, "\n%s%s", text_indent(r->code, f, t->first->begin),
			      text_copy(r->code, f->text + t->tail_begin,
					t->tail_end - t->tail_begin)));
}

/* Asks whether the line continues a string or a macro's definition. Then indenting it would change
 * it. */
static bool is_continued(const struct tx *t, uint32_t line)
{
	const struct file *f = t->x.file;
	const struct source_node *body = t->x.function->body;

	if (line >= 2 && f->text[line - 2 - (line >= 3 && f->text[line - 2] == '\r')] == '\\')
		return true;
	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->kind == SOURCE_LITERAL && n->begin < line && line < n->end &&
		    memmem(f->text + n->begin, n->end - n->begin, "R\"", 2))
			return true;
	return false;
}

static bool is_cut(const struct tx *t, uint32_t line)
{
	for (size_t i = 0; i < t->needless.n; i++)
		if (line >= text_line_begin(t->x.file, t->needless.at[i]->begin) &&
		    line < t->needless.at[i]->end)
			return true;
	return false;
}

static void cut_needless(const struct tx *t)
{
	for (size_t i = 0; i < t->needless.n; i++)
		tx_cut(t->x.file, t->needless.at[i]->begin,
		       statement_end(t->x.file, t->needless.at[i]));
}

static void indent_lines(struct repair *r, const struct tx *t)
{
	struct file *f = t->x.file;
	const char *unit = indent_unit(r->code, t->x.file, t->x.function);

	for (uint32_t at = text_line_begin(f, t->first->begin); at < t->last->end;
	     at = text_line_end(f, at) + 1) {
		if (is_cut(t, at))
			continue;
		if (t->old && at >= text_line_begin(f, t->old->begin) && at < t->tail_end)
			continue;
		if (f->text[at] == '\n' || f->text[at] == '#' || f->text[at] == '\r' ||
		    is_continued(t, at) ||
		    (at < t->first->begin && !text_begins_line(f, t->first->begin)))
			continue;
		file_edit(f, at, 0, unit);
	}
}

/* Indents lines that fixes of other bugs have added. */
static void indent_added(struct repair *r, const struct tx *t)
{
	const char *unit = indent_unit(r->code, t->x.file, t->x.function);

	for (size_t i = 0; i < t->x.file->edits.n; i++) {
		struct edit *e = &t->x.file->edits.at[i];
		const char *text = "", *from = e->insert, *line;

		if (e->at <= t->first->begin || e->at >= t->last->end)
			continue;
		while ((line = strchr(from, '\n'))) {
			text = text_format(r->code, "%s%.*s%s", text, (int)(line + 1 - from), from,
					   line[1] ? unit : "");
			from = line + 1;
		}
		e->insert = text_format(r->code, "%s%s", text, from);
	}
}

static void emit_moved(struct repair *r, struct tx *t)
{
	move_head(r, t);
	tx_emit_logs(r, t);
	indent_lines(r, t);
	for (size_t i = 0; i < t->changes.n; i++)
		file_edit(t->x.file, t->changes.at[i].begin,
			  t->changes.at[i].end - t->changes.at[i].begin, t->changes.at[i].text);
	cut_needless(t);
	move_tail(r, t);
}

/* Writes the changes in a function that transactions call. Variables go to the beginning of its
 * body. */
void tx_emit_callee(struct repair *r, struct tx_callee *c)
{
	struct tx *t = c->inner;
	struct file *f;

	if (!t || t->why)
		return;
	f = tx_callee_file(r, c);
	for (size_t i = 0; i < t->declarations.n; i++)
		file_edit(f, c->x.function->body->begin + 1, 0,
			  text_format(r->code, "\n%s%s",
				      indent_unit(r->code, c->x.file, c->x.function),
				      t->declarations.at[i]));
	tx_emit_logs(r, t);
	for (size_t i = 0; i < t->changes.n; i++)
		file_edit(f, t->changes.at[i].begin, t->changes.at[i].end - t->changes.at[i].begin,
			  t->changes.at[i].text);
}

/* Joins two transactions: what is between them is removed. */
static void emit_joined(struct repair *r, struct tx *t)
{
	tx_emit_logs(r, t);
	for (size_t i = 0; i < t->changes.n; i++)
		file_edit(t->x.file, t->changes.at[i].begin,
			  t->changes.at[i].end - t->changes.at[i].begin, t->changes.at[i].text);
	tx_cut(t->x.file, t->joint_begin, t->joint_end);
}

void tx_emit(struct repair *r, struct tx *t)
{
	if (t->joint_end) {
		emit_joined(r, t);
		return;
	}
	if (t->old) {
		emit_moved(r, t);
		return;
	}
	if (!t->is_there) {
		indent_added(r, t);
		if (!t->wrapper && !t->aborted && !t->variable &&
		    strcmp(tx_ending(r, t), "abort();") == 0)
			include_stdlib(t);
		declare_variable(r, t);
		emit_begin(r, t);
	}
	tx_emit_logs(r, t);
	tx_emit_late(r, t);
	if (t->is_there)
		return;
	indent_lines(r, t);
	for (size_t i = 0; i < t->changes.n; i++)
		file_edit(t->x.file, t->changes.at[i].begin,
			  t->changes.at[i].end - t->changes.at[i].begin, t->changes.at[i].text);
	cut_needless(t);
	emit_end(r, t);
}
