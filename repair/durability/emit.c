/* Turns placed fixes into edits of the text. All fixes of one statement are written together:
 * flushes first, then one fence. */
#include <ctype.h>
#include <string.h>

#include "repair/durability/internal.h"

typedef VEC(struct insertion) insertions;

static struct insertion *insertion_for(insertions *all, struct fix *x,
				       const struct source_node *stmt)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].stmt == stmt && all->at[i].x->file == x->file)
			return &all->at[i];
	*vec_add(all) = (struct insertion){ .x = x, .stmt = stmt };
	return &all->at[all->n - 1];
}

static bool line_is_there(const struct insertion *a, const char *line)
{
	for (size_t i = 0; i < a->lines.n; i++)
		if (strcmp(a->lines.at[i].text, line) == 0)
			return true;
	return false;
}

/* Asks whether the statements behind this one are already the lines to add. Then the source was
 * fixed before. */
static bool is_there_already(const struct file *f, const struct source_node *stmt,
			     const struct idiom_line *lines)
{
	uint32_t at = statement_end(f, stmt);

	for (size_t i = 0; lines[i].text; i++) {
		size_t len = strlen(lines[i].text);

		at = text_skip_blanks(f, at);
		if (at + len >= f->len_bytes || memcmp(f->text + at, lines[i].text, len) != 0 ||
		    f->text[at + len] != ';')
			return false;
		at += (uint32_t)len + 1;
	}
	return true;
}

/* Writes the fix as an object that flushes in its destructor, declared before the statement.
 * Returns 1 if this file does not flush by such objects. */
static int add_scope(struct repair *r, insertions *all, struct fix *x, const struct idiom *idiom,
		     const char **why)
{
	const struct idiom_line *lines =
		x->needs_flush ? idiom_lines(r, idiom, &x->range, true, x->needs_fence, false, why)
			       : NULL;
	struct insertion *a;

	if (!lines || !lines[0].is_scope)
		return 1;
	if (header_check(r, x, lines, why) < 0 || scope_check(r, x, why) < 0)
		return -1;
	a = insertion_for(all, x, x->stmt);
	if (a->lines.n && !a->is_scope) {
		*why = "another change of the same statement is in the way";
		return -1;
	}
	a->is_scope = true;
	if (!line_is_there(a, lines[0].text))
		*vec_add(&a->lines) = lines[0];
	return 0;
}

static int add_statement(struct repair *r, insertions *all, struct fix *x, struct idiom *idiom,
			 const char **why)
{
	bool is_split = x->fence_stmt && x->needs_fence;
	const struct idiom_line *lines;
	struct insertion *a;

	/* the fence is written elsewhere, so one call for both is not needed */
	idiom->needs_persist &= !is_split;
	lines = idiom_lines(r, idiom, &x->range, x->needs_flush, x->needs_fence && !is_split, false,
			    why);
	if (!lines || header_check(r, x, lines, why) < 0)
		return -1;
	if (x->is_hoisted && is_there_already(x->file, x->stmt, lines))
		return 0;
	if (!is_split && x->where == AFTER && is_there_already(x->file, x->stmt, lines)) {
		*why = "the source already has it; is the report older than the source?";
		return -1;
	}
	if (x->where == IN_RETURN) {
		const char *type = x->stmt->child ? x->stmt->child->type : NULL;

		if (!type || strpbrk(type, "([") || x->stmt->parent->kind == SOURCE_LABEL) {
			*why = "the value that is returned needs a temporary, which cannot be declared here";
			return -1;
		}
		insertion_for(all, x, x->stmt)->result_type = type;
	}
	own_macros_define(x, lines);
	a = insertion_for(all, x, x->stmt);
	for (size_t i = 0; lines[i].text; i++)
		if (!line_is_there(a, lines[i].text))
			*vec_add(&a->lines) = lines[i];
	if (is_split) {
		lines = idiom_lines(r, idiom, &x->range, false, true, false, why);
		if (!lines)
			return -1;
		own_macros_define(x, lines);
		a = insertion_for(all, x, x->fence_stmt);
		if (!line_is_there(a, lines[0].text))
			*vec_add(&a->lines) = lines[0];
	}
	return 0;
}

/* Asks whether the file writes sizeof(x) more often than sizeof x. */
static bool has_parentheses(const struct file *f)
{
	unsigned with = 0, without = 0;

	for (const char *p = f->text; (p = strstr(p, "sizeof")); p += 6)
		*(p[6] == '(' ? &with : &without) += 1;
	return with > without;
}

/* Returns the end of the operand of sizeof, such as *p or r->a[i].b. */
static const char *operand_end(const char *p)
{
	int depth = 0;

	p += strspn(p, "*");
	for (; *p; p++) {
		depth += *p == '[' || *p == '(' ? 1 : *p == ']' || *p == ')' ? -1 : 0;
		if (depth < 0 ||
		    (depth == 0 && !isalnum((unsigned char)*p) && !strchr("_.])", *p) &&
		     strncmp(p, "->", 2) != 0 && strncmp(p - 1, "->", 2) != 0))
			break;
	}
	return p;
}

const char *emit_in_style(struct repair *r, const struct file *f, const char *len)
{
	const char *at = strstr(len, "sizeof "), *end = at ? operand_end(at + 7) : NULL;

	if (!at || !has_parentheses(f))
		return len;
	return text_format(r->code, "%.*ssizeof(%.*s)%s", (int)(at - len), len, (int)(end - at - 7),
			   at + 7, end);
}

static int add_fix(struct repair *r, insertions *all, struct fix *x, const char **why)
{
	const struct idiom_line *lines;
	struct idiom idiom;

	if (r->options->root && !path_is_below(x->file->path, r->options->root)) {
		*why = text_format(r->code, "%s is not below %s, the source's folder (--root)",
				   x->file->path, r->options->root);
		return -1;
	}
	if (x->range.len)
		x->range.len = emit_in_style(r, x->file, x->range.len);
	idiom_find(r, x, &idiom);
	if (x->where != IN_COMMA) {
		int result = add_scope(r, all, x, &idiom, why);

		return result <= 0 ? result : add_statement(r, all, x, &idiom, why);
	}
	lines = idiom_lines(r, &idiom, &x->range, x->needs_flush, x->needs_fence, true, why);
	if (!lines || header_check(r, x, lines, why) < 0)
		return -1;
	insert_in_expression(r, x, lines);
	return 0;
}

void emit_fixes(struct repair *r)
{
	insertions all = { 0 };
	const char *why;

	for (size_t i = 0; i < r->fixes.n; i++) {
		struct fix *x = &r->fixes.at[i];

		if (x->is_dropped)
			continue;
		if (add_fix(r, &all, x, &why) < 0) {
			if (x->is_extra) {
				x->is_dropped = true;
				continue;
			}
			r->failures.at[x->bug] = why;
			r->has_new_failures = true;
			continue;
		}
		r->nflushes += x->needs_flush;
		r->nfences += x->needs_fence && !r->options->is_page_cache;
	}
	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i].is_scope)
			scope_insert(r, &all.at[i]);
		else if (!join_insertion(r, &all.at[i]))
			insert_behind(r, &all.at[i]);
		vec_release(&all.at[i].lines);
	}
	vec_release(&all);
}
