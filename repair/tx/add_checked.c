/* Writes a new log with a check of its result, if the function checks its other logs: `err =
 * LOG(…); if (err) goto out;` or `if (LOG(…)) return -1;`. */
#include <string.h>

#include "repair/tx/internal.h"
#include "source/source.h"

/* Asks whether the node is an `if` without `else` whose branch only leaves the function or loop. */
static bool is_check(const struct source_node *n)
{
	return n && n->kind == SOURCE_IF && n->child && n->child->next == n->last &&
	       source_leaves(n->last);
}

/* Returns the statement of a block that contains the call. */
static const struct source_node *statement_of(const struct source_function *f,
					      const struct tx_add_call *c)
{
	const struct source_node *found = NULL;

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (n->parent && n->parent->kind == SOURCE_COMPOUND && n->begin <= c->begin &&
		    c->end <= n->end)
			found = n;
	return found;
}

/* Returns the variable in `variable = CALL`; NULL: another form. */
static const char *variable_of(const struct source_node *stmt)
{
	return stmt->kind == SOURCE_BINARY && strcmp(stmt->op, "=") == 0 &&
			       stmt->child->kind == SOURCE_NAME
		       ? stmt->child->name
		       : NULL;
}

/* Returns the end of the statements that call and check the result; 0: nobody checks it. */
static uint32_t end_of_check(struct repair *r, const struct file *f, const struct source_node *stmt,
			     const struct tx_add_call *c)
{
	const char *variable = variable_of(stmt);

	if (is_check(stmt) && stmt->child->begin <= c->begin && c->end <= stmt->child->end)
		return statement_end(f, stmt->last);
	if (variable && is_check(stmt->next) &&
	    text_has_word(text_of(r->code, f, stmt->next->child), variable))
		return statement_end(f, stmt->next->last);
	return 0;
}

/* Returns the text with another indentation from its second line on. */
static const char *reindented(struct repair *r, const char *text, const char *from, const char *to)
{
	const char *out = "", *line;

	while ((line = strchr(text, '\n'))) {
		out = text_format(r->code, "%s%.*s\n%s", out, (int)(line - text), text, to);
		text = line + 1 + (strncmp(line + 1, from, strlen(from)) == 0 ? strlen(from) : 0);
	}
	return text_format(r->code, "%s%s", out, text);
}

const char *tx_log_checked(struct repair *r, const struct tx_add_calls *all, const struct tx_log *l)
{
	const struct file *f = l->x.file;
	const char *found = NULL;

	for (size_t i = 0; all->file == f && i < all->list.n; i++) {
		const struct tx_add_call *c = &all->list.at[i];
		const struct source_node *stmt =
			l->x.function->begin <= c->begin && c->end < l->stmt->begin
				? statement_of(l->x.function, c)
				: NULL;
		uint32_t end =
			stmt && text_begins_line(f, stmt->begin) ? end_of_check(r, f, stmt, c) : 0;

		if (!stmt)
			continue;
		found = NULL; /* the last log before the new one decides */
		if (end && !text_has_directive(f, stmt->begin, end))
			found = text_format(
				r->code, "%s%s%s",
				text_copy(r->code, f->text + stmt->begin, c->begin - stmt->begin),
				l->text, text_copy(r->code, f->text + c->end, end - c->end));
		if (found)
			found = reindented(r, found, text_indent(r->code, f, stmt->begin),
					   text_indent(r->code, f, l->stmt->begin));
	}
	return found;
}
