/* Keeps the statements of a planned transaction, which grow until all that belongs to it is inside.
 * Two transactions that touch are merged. */
#include <stdlib.h>
#include <string.h>

#include "repair/tx/internal.h"
#include "source/source.h"

void tx_free(struct tx *t)
{
	vec_release(&t->bugs);
	vec_release(&t->cures);
	vec_release(&t->logs);
	vec_release(&t->paths);
	vec_release(&t->changes);
	vec_release(&t->declarations);
	vec_release(&t->allocated);
	vec_release(&t->needless);
	free(t);
}

/* ---- statements ---- */

static bool is_block(const struct file *f, const struct source_node *n)
{
	return n->kind == SOURCE_COMPOUND && f->text[n->begin] == '{';
}

const struct source_node *tx_statement(const struct source_function *fn, const struct file *f,
				       uint32_t line, uint32_t column)
{
	uint32_t at = file_offset(f, line, column), from = file_offset(f, line, 1),
		 to = text_line_end(f, from);
	const struct source_node *by_place = NULL, *by_line = NULL;

	for (const struct source_node *n = fn->body; n; n = node_next(n, fn->body)) {
		if (n == fn->body || !node_is_body(f, n) ||
		    (n->kind == SOURCE_COMPOUND && n->parent->kind == SOURCE_COMPOUND))
			continue;
		if (at && n->begin <= at && at < n->end)
			by_place = n;
		if (n->begin < to && n->end > from &&
		    (!by_line || (by_line->begin <= n->begin && n->end <= by_line->end) ||
		     n->begin >= from))
			by_line = !by_line || (by_line->begin <= n->begin && n->end <= by_line->end)
					  ? n
					  : by_line;
	}
	return by_place ? by_place : by_line;
}

/* Extends the transaction to this statement. */
void tx_include(struct tx *t, const struct source_node *n)
{
	const struct source_node *stmt = t->block ? source_child_of(t->block, n) : NULL;

	if (!t->block) {
		t->block = n->parent;
		t->first = t->last = n;
		while (t->block && !is_block(t->x.file, t->block)) {
			t->first = t->last = t->block;
			t->block = t->block->parent;
		}
		return;
	}
	while (!stmt && t->block) {
		const struct source_node *outer = t->block;

		do
			outer = outer->parent;
		while (outer && !is_block(t->x.file, outer));
		if (!outer)
			return;
		t->first = t->last = source_child_of(outer, t->first);
		t->block = outer;
		stmt = source_child_of(outer, n);
	}
	if (stmt->begin < t->first->begin)
		t->first = stmt;
	if (stmt->end > t->last->end)
		t->last = stmt;
}

/* Asks whether the store is in the first of a for's three expressions, which is evaluated once and
 * always. */
static bool is_in_first(const struct file *f, const struct source_node *loop,
			const struct source_node *store)
{
	int depth = 0;

	for (uint32_t at = loop->begin; at < store->begin; at++) {
		depth += (f->text[at] == '(') - (f->text[at] == ')');
		if (f->text[at] == ';' && depth == 1)
			return false;
	}
	return loop->kind == SOURCE_FOR && depth > 0;
}

/* Asks whether the store may be executed under a condition inside the statement, or repeatedly. */
bool tx_is_conditional(const struct file *f, const struct source_node *stmt,
		       const struct source_node *store)
{
	for (const struct source_node *n = store; n != stmt && n->parent; n = n->parent) {
		const struct source_node *p = n->parent;

		if ((p->kind == SOURCE_CONDITIONAL && n != p->child) || p->kind == SOURCE_LAMBDA ||
		    (p->kind == SOURCE_BINARY && n != p->child &&
		     (!p->op[0] || strcmp(p->op, "&&") == 0 || strcmp(p->op, "||") == 0)))
			return true;
	}
	return stmt != store &&
	       (stmt->kind == SOURCE_FOR || stmt->kind == SOURCE_WHILE ||
		stmt->kind == SOURCE_DO) &&
	       !is_in_first(f, stmt, store);
}

/* ---- transactions that touch ---- */

static bool touch(const struct tx *a, const struct tx *b)
{
	return a->x.function == b->x.function &&
	       ((a->is_there && b->is_there) ||
		(a->first->begin <= b->last->end && b->first->begin <= a->last->end));
}

static void merge(struct repair *r, size_t into, size_t from)
{
	struct tx *a = r->tx->list.at[into], *b = r->tx->list.at[from];

	tx_include(a, b->first);
	tx_include(a, b->last);
	a->is_there &= b->is_there;
	a->is_hidden &= b->is_hidden;
	for (size_t i = 0; i < b->bugs.n; i++) {
		*vec_add(&a->bugs) = b->bugs.at[i];
		*vec_add(&a->cures) = b->cures.at[i];
		group_join(r, a->bugs.at[0], b->bugs.at[i]);
	}
	tx_free(b);
	r->tx->list.at[from] = r->tx->list.at[--r->tx->list.n];
}

void tx_merge(struct repair *r)
{
	for (size_t i = 0; i < r->tx->list.n; i++)
		for (size_t k = i + 1; k < r->tx->list.n;) {
			if (touch(r->tx->list.at[i], r->tx->list.at[k])) {
				merge(r, i, k);
				k = i + 1; /* it has grown, so start again */
			} else {
				k++;
			}
		}
}

/* ---- names ---- */

/* Returns the names that planned transactions use in this function. */
static const char *names_given(struct repair *r, const struct tx *t)
{
	const char *text = "";

	for (size_t i = 0; i < r->tx->list.n + 1; i++) {
		const struct tx *o = i < r->tx->list.n ? r->tx->list.at[i] : t;

		if (o->x.function != t->x.function)
			continue;
		text = text_format(r->code, "%s %s %s %s %s", text, o->result ? o->result : "",
				   o->flag ? o->flag : "", o->label ? o->label : "",
				   o->aborted ? o->aborted : "");
		for (size_t k = 0; k < o->declarations.n; k++)
			text = text_format(r->code, "%s %s", text, o->declarations.at[k]);
	}
	return text;
}

const char *tx_free_name(struct repair *r, const struct tx *t, const char *name)
{
	const struct source_function *f = t->x.function;
	const char *body = text_copy(r->code, t->x.file->text + f->begin, f->end - f->begin),
		   *given = names_given(r, t), *free_name = name;

	for (unsigned i = 2; text_has_word(body, free_name) || text_has_word(given, free_name); i++)
		free_name = text_format(r->code, "%s%u", name, i);
	return free_name;
}
