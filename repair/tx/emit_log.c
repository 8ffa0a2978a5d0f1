/* Writes the logs of a transaction, each before the statement that stores. If others call the
 * function of a log, too, the log is under a condition. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/internal.h"

/* Returns the log's text. If others may call the function, outside of transactions or with volatile
 * memory, the text tests for that. */
static const char *log_text(struct repair *r, const struct tx_log *l)
{
	const struct tx_callee *c = l->is_foreign ? tx_callee_find(r, l->x.function) : NULL;
	const char *plain = l->checked && text_begins_line(l->x.file, l->stmt->begin)
				    ? l->checked
				    : text_format(r->code, "%s;", l->text);

	if (l->guard || (c && c->way == TX_GUARDED))
		return text_format(
			r->code,
			"if (pmemobj_tx_stage() == TX_STAGE_WORK && pmemobj_pool_by_ptr(%s))\n{indent}{unit}%s",
			l->addr, plain);
	if (l->is_unsure || (c && c->callers == TX_SOME_VOLATILE))
		return text_format(r->code, "if (pmemobj_pool_by_ptr(%s))\n{indent}{unit}%s",
				   l->addr, plain);
	return plain;
}

/* Returns the text with {indent} and {unit} replaced. */
static const char *indented(struct repair *r, const char *text, const char *indent,
			    const char *unit)
{
	const char *at = strstr(text, "{indent}{unit}");

	return at ? text_format(r->code, "%.*s%s%s%s", (int)(at - text), text, indent, unit,
				at + strlen("{indent}{unit}"))
		  : text;
}

static bool needs_braces(const struct source_node *stmt)
{
	const struct source_node *p = stmt->parent;

	return p->kind != SOURCE_COMPOUND &&
	       !(p->kind == SOURCE_LABEL && p->parent->kind == SOURCE_COMPOUND);
}

static void emit_log(struct repair *r, const struct tx *t, const struct tx_log *l, bool is_first,
		     bool is_last)
{
	struct file *f = l->x.file;
	bool is_inside = !l->is_foreign && !t->is_there && !t->joint_end;
	const char *unit = indent_unit(r->code, l->x.file, l->x.function),
		   *more = is_inside ? unit : "", *indent = text_indent(r->code, f, l->stmt->begin),
		   *text;
	uint32_t head = l->stmt->begin, end = statement_end(f, l->stmt), at, otherwise;

	text = indented(r, log_text(r, l), text_format(r->code, "%s%s", indent, more), unit);
	/* the statement follows a label, an else, or another statement */
	if (!text_begins_line(f, l->stmt->begin)) {
		file_edit(f, l->stmt->begin, 0,
			  text_format(r->code, "%s%s ",
				      needs_braces(l->stmt) && is_first ? "{ " : "", text));
		if (needs_braces(l->stmt) && is_last)
			file_edit(f, end, 0, " }");
		return;
	}
	while (head > 0 && isspace((unsigned char)f->text[head - 1]))
		head--;
	if (needs_braces(l->stmt) && is_first)
		file_edit(f, head, 0, " {");
	file_edit(f, text_line_begin(f, l->stmt->begin), 0,
		  text_format(r->code, "%s%s%s\n", indent, more, text));
	if (!needs_braces(l->stmt) || !is_last)
		return;
	at = line_end_behind(f, end);
	at = at ? at : end;
	otherwise = at;
	while (isspace((unsigned char)f->text[otherwise]))
		otherwise++;
	if (strncmp(f->text + otherwise, "else", 4) != 0 || !strstr(f->text, "} else"))
		otherwise = at;
	file_edit(f, at, otherwise - at,
		  text_format(r->code, "\n%s%s}%s", text_indent(r->code, f, l->stmt->parent->begin),
			      more, otherwise > at ? " " : ""));
}

/* Removes text, with its lines if they would be empty. */
void tx_cut(struct file *f, uint32_t begin, uint32_t end)
{
	uint32_t line = text_line_begin(f, begin), after = line_end_behind(f, end);

	if (text_begins_line(f, begin) && after)
		file_edit(f, line, after + 1 - line, "");
	else
		file_edit(f, begin, end - begin, "");
}

/* Asks whether the log is written already for another transaction that calls the same function. */
static bool is_written_before(struct repair *r, const struct tx_log *l)
{
	for (size_t i = 0; l->is_foreign && i < r->tx->list.n; i++)
		for (size_t k = 0; k < r->tx->list.at[i]->logs.n; k++) {
			const struct tx_log *o = &r->tx->list.at[i]->logs.at[k];

			if (o->is_written && o->x.file == l->x.file &&
			    o->stmt->begin == l->stmt->begin && strcmp(o->addr, l->addr) == 0)
				return true;
		}
	return false;
}

void tx_emit_logs(struct repair *r, struct tx *t)
{
	for (size_t i = 0; i < t->logs.n; i++) {
		struct tx_log *l = &t->logs.at[i];

		if (l->is_foreign)
			l->x.file = tx_callee_file(r, tx_callee_find(r, l->x.function));
		l->is_elsewhere = is_written_before(r, l);
	}
	for (size_t i = 0; i < t->logs.n; i++) {
		bool is_first = true, is_last = true;

		if (t->logs.at[i].is_dropped || t->logs.at[i].is_elsewhere || t->logs.at[i].late)
			continue;
		t->logs.at[i].is_written = true;
		for (size_t k = 0; k < t->logs.n; k++)
			if (k != i && !t->logs.at[k].is_dropped && !t->logs.at[k].is_elsewhere &&
			    t->logs.at[k].stmt == t->logs.at[i].stmt) {
				is_first &= k > i;
				is_last &= k < i;
			}
		emit_log(r, t, &t->logs.at[i], is_first, is_last);
		if (t->logs.at[i].instead_end)
			tx_cut(t->logs.at[i].x.file, t->logs.at[i].instead_begin,
			       t->logs.at[i].instead_end);
		if (t->logs.at[i].moved)
			tx_cut(t->logs.at[i].x.file, t->logs.at[i].moved->begin,
			       statement_end(t->logs.at[i].x.file, t->logs.at[i].moved));
	}
}
