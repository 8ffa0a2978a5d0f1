/* Removes redundant statements from the text. Also removes what was there only for such a
 * statement: an `if` whose test has no side effects, #if lines around it, and braces around a
 * single remaining statement if the file writes no such braces. */
#include <string.h>

#include "repair/durability/internal.h"
#include "repair/edit/internal.h"

static bool is_in_use(const struct repair *r, const struct removal *m)
{
	for (size_t i = 0; i < r->fixes.n; i++) {
		const struct fix *x = &r->fixes.at[i];

		if (x->file == m->file && !x->is_dropped &&
		    (x->stmt->begin == m->stmt->begin ||
		     (x->fence_stmt && x->fence_stmt->begin == m->stmt->begin)))
			return true;
	}
	return false;
}

/* The statement is changed by an amendment (moved, widened or replaced). */
static bool is_amended(const struct repair *r, const struct removal *m)
{
	for (size_t i = 0; i < r->durability->amendments.n; i++) {
		const struct amendment *a = &r->durability->amendments.at[i];

		if (a->at.file == m->file &&
		    (a->at.stmt->begin == m->stmt->begin ||
		     (a->needless && a->needless->begin == m->stmt->begin)))
			return true;
	}
	return false;
}

static const char *veto(struct repair *r, const struct removal *m)
{
	for (size_t i = 0; i < r->durability->removals.n; i++) {
		const struct removal *other = &r->durability->removals.at[i];

		if (other->file == m->file && other->stmt->begin == m->stmt->begin &&
		    other->why_not)
			return other->why_not;
	}
	if (r->options->root && !path_is_below(m->file->path, r->options->root))
		return "it is not below the source's folder (--root)";
	return is_in_use(r, m) || is_amended(r, m)
		       ? "check whether it can be removed after the missing flush or fence is added"
		       : NULL;
}

/* ---- what is removed with it ---- */

/* The body consists of this statement only. */
static bool is_all_of(const struct source_node *n, const struct source_node *body)
{
	return body == n ||
	       (body && body->kind == SOURCE_COMPOUND && body->child == n && body->last == n);
}

/* Returns the outermost `if` without `else` that contains only this statement and whose test has no
 * side effects; or the statement itself. */
static const struct source_node *whole(const struct source_unit *u, const struct source_node *n)
{
	const struct source_node *branch =
		n->parent && n->parent->kind == SOURCE_COMPOUND ? n->parent->parent : n->parent;

	while (branch && branch->kind == SOURCE_IF && branch->child &&
	       branch->child->next == branch->last && is_all_of(n, branch->last) &&
	       node_is_repeatable(u, branch->child)) {
		n = branch;
		branch = n->parent && n->parent->kind == SOURCE_COMPOUND ? n->parent->parent
									 : n->parent;
	}
	return n;
}

bool redundant_can_go(const struct source_unit *u, const struct file *f,
		      const struct source_node *stmt)
{
	const struct source_node *n = whole(u, stmt), *parent = n->parent;

	if (!parent || parent->kind != SOURCE_COMPOUND)
		return false; /* a statement must stand there */
	if (!node_is_body(f, n) || !parent->parent)
		return node_is_body(f, n);
	return parent->child != parent->last ||
	       (parent->parent->kind != SOURCE_IF && parent->parent->kind != SOURCE_FOR &&
		parent->parent->kind != SOURCE_WHILE);
}

static bool line_begins(const struct file *f, uint32_t at, const char *word)
{
	while (at < f->len_bytes && strchr(" \t", f->text[at]))
		at++;
	return at + strlen(word) <= f->len_bytes && strncmp(f->text + at, word, strlen(word)) == 0;
}

static uint32_t line_before(const struct file *f, uint32_t line)
{
	return line ? text_line_begin(f, line - 1) : 0;
}

/* Extends the range by #if and #endif lines that would be empty, and by a superfluous blank
 * line. */
static void take_lines_around(const struct file *f, uint32_t *begin, uint32_t *end)
{
	while (*begin && line_begins(f, line_before(f, *begin), "#if") && *end < f->len_bytes &&
	       line_begins(f, *end, "#endif")) {
		*begin = line_before(f, *begin);
		*end = text_line_end(f, *end) < f->len_bytes ? text_line_end(f, *end) + 1
							     : f->len_bytes;
	}
	if (*begin && file_is_blank_line(f, line_before(f, *begin)) &&
	    (file_is_blank_line(f, *end) || line_begins(f, *end, "}")))
		*begin = line_before(f, *begin);
}

/* ---- braces ---- */

static bool is_simple(const struct file *f, const struct source_node *n)
{
	bool is_one_line = !memchr(f->text + n->begin, '\n', n->end - n->begin);

	return is_one_line && n->kind != SOURCE_DECL && n->kind != SOURCE_IF &&
	       n->kind != SOURCE_FOR && n->kind != SOURCE_WHILE && n->kind != SOURCE_DO &&
	       n->kind != SOURCE_SWITCH && n->kind != SOURCE_LABEL && n->kind != SOURCE_COMPOUND;
}

/* Asks whether some `if` or loop of the file has a single statement without braces, and none has a
 * single one with braces. */
static bool does_without_braces(const struct source_unit *u, const struct file *f,
				const struct source_node *besides)
{
	bool is_seen = false;

	for (size_t i = 0; i < u->nfunctions; i++) {
		const struct source_function *fn = &u->functions[i];

		for (const struct source_node *n =
			     fn->body && strcmp(fn->file, f->path) == 0 ? fn->body : NULL;
		     n; n = node_next(n, fn->body)) {
			if ((n->kind != SOURCE_IF && n->kind != SOURCE_FOR &&
			     n->kind != SOURCE_WHILE) ||
			    !n->last || macro_use(u, f->path, n))
				continue;
			if (n->kind == SOURCE_IF && n->child->next != n->last)
				continue;
			if (n->last->kind == SOURCE_COMPOUND && n->last != besides &&
			    n->last->child && n->last->child == n->last->last &&
			    is_simple(f, n->last->child) && is_simple(f, n->child))
				return false;
			is_seen |= n->last->kind != SOURCE_COMPOUND;
		}
	}
	return is_seen;
}

static void drop_braces(const struct source_unit *u, struct file *f, const struct source_node *gone)
{
	const struct source_node *block = gone->parent, *owner = block->parent,
				 *stays = block->child == gone ? block->last : block->child;
	uint32_t open = block->begin, close = block->end - 1, line = text_line_begin(f, close),
		 end = text_line_end(f, close);

	if (!owner ||
	    (owner->kind != SOURCE_IF && owner->kind != SOURCE_FOR &&
	     owner->kind != SOURCE_WHILE) ||
	    block != owner->last || !block->child || block->child->next != block->last ||
	    block->child == block->last ||
	    (owner->kind == SOURCE_IF && owner->child->next != block))
		return;
	if (owner->parent && owner->parent->kind == SOURCE_IF && owner->parent->last == owner)
		return; /* leave "else if" alone */
	if (!is_simple(f, stays) || !does_without_braces(u, f, block) ||
	    !text_begins_line(f, close) || text_skip_blanks(f, close + 1) < end ||
	    f->text[open] != '{' || text_has_directive(f, block->begin, block->end))
		return;
	for (const char *p = f->text + open; p < f->text + close - 1; p++)
		if (p[0] == '/' && (p[1] == '*' || p[1] == '/') &&
		    (p < f->text + gone->begin || p > f->text + text_line_end(f, gone->end)))
			return; /* a comment is in the way */
	while (open > 0 && strchr(" \t\n", f->text[open - 1]))
		open--;
	file_edit(f, open, block->begin + 1 - open, "");
	file_edit(f, line, end + 1 - line, "");
}

/* ---- removing ---- */

static size_t count_in(const struct repair *r, const struct source_node *block)
{
	size_t n = 0;

	for (size_t i = 0; i < r->durability->removals.n; i++)
		n += r->durability->removals.at[i].stmt->parent == block;
	return n;
}

/* Removes the statement with its lines and the comment behind it, if nothing else is on them. */
static void remove_statement(struct repair *r, struct removal *m)
{
	struct file *f = m->file;
	const struct source_node *n = whole(m->unit, m->stmt);
	uint32_t begin = n->begin,
		 end = n != m->stmt && n->last->kind == SOURCE_COMPOUND
			       ? n->end
			       : text_semicolon(f, n != m->stmt ? m->stmt->end : n->end),
		 first, last;

	if (m->instead) {
		file_edit(f, m->stmt->begin, m->stmt->end - m->stmt->begin, m->instead);
		return;
	}
	first = text_line_begin(f, begin);
	last = text_line_end(f, end);
	while (begin > first && strchr(" \t", f->text[begin - 1]))
		begin--;
	if (begin == first && text_skip_blanks(f, end) >= last) {
		end = last < f->len_bytes ? last + 1 : last;
		take_lines_around(f, &begin, &end);
		/* another statement follows on the line: its indentation stays */
	} else if (begin == first) {
		begin = n->begin;
		end = text_skip_blanks(f, end);
	}
	file_edit(f, begin, end - begin, "");
	if (n->parent && n->parent->kind == SOURCE_COMPOUND && count_in(r, n->parent) <= 1)
		drop_braces(m->unit, f, n);
}

void redundant_emit(struct repair *r)
{
	for (size_t i = 0; i < r->durability->removals.n; i++) {
		struct removal *m = &r->durability->removals.at[i];
		const char *why_not = veto(r, m);
		bool is_again = false;

		r->outcomes.at[m->bug] =
			why_not ? (struct repair_outcome){ REPAIR_DECLINED, why_not, "" }
				: (struct repair_outcome){ REPAIR_MENDED, m->words, NULL };
		if (why_not)
			continue;
		for (size_t k = 0; k < i && !is_again; k++)
			if (r->durability->removals.at[k].file == m->file &&
			    r->durability->removals.at[k].stmt->begin == m->stmt->begin) {
				group_join(r, r->durability->removals.at[k].bug, m->bug);
				is_again = true;
			}
		if (is_again)
			continue;
		remove_statement(r, m);
		r->nremoved++;
	}
}
