/* Finds the function and the statements for a transaction around stores that must become durable
 * together. The stores' call paths are followed outwards to the innermost function that all of them
 * have in common. There, the transaction covers the statements of one block from the first store
 * (or call that leads to it) to the last. */
#include "repair/tx/tx.h"

#include <string.h>

#include "repair/tx/internal.h"
#include "util/str.h"

/* ---- the function ---- */

static bool same_frame(const struct repair_frame *a, const struct repair_frame *b)
{
	return a->line == b->line && a->column == b->column && str_same(a->function, b->function) &&
	       str_same(a->file, b->file);
}

/* Returns the depth of the last frame up to which all call paths go through the same functions.
 * Depth 0 is the outermost frame. In the last of these frames, the paths may differ in the line.
 * SIZE_MAX: not even the outermost functions are the same. */
static size_t common_depth(const struct repair_cure *c)
{
	size_t depth = SIZE_MAX;

	for (size_t k = 0;; k++) {
		const struct repair_place *p = &c->stores[0];
		bool is_same_line = true;

		for (size_t i = 0; i < c->nstores; i++) {
			const struct repair_place *q = &c->stores[i];

			if (k >= q->nframes ||
			    !str_same(q->frames[q->nframes - 1 - k].function,
				      p->frames[p->nframes - 1 - k].function) ||
			    !str_same(q->frames[q->nframes - 1 - k].file,
				      p->frames[p->nframes - 1 - k].file))
				return depth;
			is_same_line &= same_frame(&q->frames[q->nframes - 1 - k],
						   &p->frames[p->nframes - 1 - k]);
		}
		depth = k;
		if (!is_same_line)
			return depth;
	}
}

/* ---- the statements ---- */

/* Asks whether a call is between the two statements. Compilers reorder stores, but not across a
 * call. */
static bool is_call_between(const struct source_function *f, const struct source_node *a,
			    const struct source_node *b)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (n->kind == SOURCE_CALL && n->begin >= a->end && n->end <= b->begin)
			return true;
	return false;
}

static bool share_a_loop(const struct source_node *a, const struct source_node *b)
{
	for (; a; a = a->parent)
		if ((a->kind == SOURCE_FOR || a->kind == SOURCE_WHILE || a->kind == SOURCE_DO) &&
		    a->begin <= b->begin && b->end <= a->end)
			return true;
	return false;
}

static int find_statements(struct repair *r, struct tx *t, const struct repair_cure *c,
			   size_t depth, const char **why)
{
	const struct source_node *before = NULL;

	for (size_t i = 0; i < c->nstores; i++) {
		const struct repair_place *p = &c->stores[i];
		size_t at = p->nframes - 1 - depth;
		struct fix x = { 0 };
		const struct source_node *stmt;

		if (fix_enter_frame(r, &x, p, at, why) < 0)
			return -1;
		if (i == 0)
			t->x = x;
		if (x.function != t->x.function) {
			*why = "the stores are in different functions of one name";
			return -1;
		}
		stmt = tx_statement(x.function, x.file, p->frames[at].line, p->frames[at].column);
		if (!stmt) {
			*why = text_format(r->code, "no statement is at %s:%u", p->frames[at].file,
					   p->frames[at].line);
			return -1;
		}
		t->is_of_several |= before && stmt->begin < before->begin &&
				    !share_a_loop(stmt, before) &&
				    is_call_between(x.function, stmt, before);
		before = stmt;
		tx_include(t, stmt);
		if (!t->block) {
			*why = text_format(r->code, "%s:%u is not in a block", p->frames[at].file,
					   p->frames[at].line);
			return -1;
		}
	}
	t->x.store = t->first;
	return 0;
}

/* Extends the transaction to the loop around the statement, since the statement runs several
 * times. */
static void include_loop(struct tx *t)
{
	for (const struct source_node *n = t->first->parent; n; n = n->parent)
		if (n->kind == SOURCE_FOR || n->kind == SOURCE_WHILE || n->kind == SOURCE_DO) {
			tx_include(t, n);
			return;
		}
}

/* ---- whether the program can have transactions ---- */

bool tx_has_library(const struct source_unit *u)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		if (strcmp(u->functions[i].name, "pmemobj_tx_begin") == 0)
			return true;
	return false;
}

/* Lists the places of the stores as text. */
static const char *list_stores(struct repair *r, const struct repair_cure *c)
{
	const char *text = "";

	for (size_t i = 0; i < c->nstores && i < 12; i++)
		if (c->stores[i].nframes && c->stores[i].frames[0].file)
			text = text_format(r->code, "%s%s%s:%u", text, *text ? ", " : "",
					   c->stores[i].frames[0].file,
					   c->stores[i].frames[0].line);
	return text;
}

/* Asks whether the lost and the surviving store are on one line, mostly of a macro. Then a trial
 * with a flush between them was impossible. */
static bool is_one_line(const struct repair *r)
{
	for (size_t i = 0; i < r->bugs.n; i++) {
		const struct repair_bug *b = r->bugs.at[i];
		const struct repair_place *lost = NULL, *survived = NULL;

		for (size_t k = 0; strcmp(b->kind, "ordering") == 0 && k < b->nplaces; k++) {
			lost = !lost && str_same(b->places[k].role, "lost") ? &b->places[k] : lost;
			survived = !survived && str_same(b->places[k].role, "survived")
					   ? &b->places[k]
					   : survived;
		}
		if (lost && survived && lost->nframes && survived->nframes &&
		    same_frame(&lost->frames[0], &survived->frames[0]))
			return true;
	}
	return false;
}

static int check_library(struct repair *r, const struct tx *t, const struct repair_cure *c,
			 const char **why)
{
	if (tx_has_library(t->x.unit))
		return 0;
	if (!t->is_there && is_one_line(r)) {
		*why = text_format(
			r->code,
			"one line stores what is lost and what survives, so a flush behind it is too late. If their order is all that matters, flush and fence between them, "
			"in the macro or function that the line uses. If the stores at %s must become durable together: a commit variable, a log that recovery replays, PMDK",
			list_stores(r, c));
		return -1;
	}
	*why = text_format(
		r->code,
		t->is_there
			? "the store at %s must be logged by its transaction, but this file does not include libpmemobj's"
			: "the stores at %s must become durable together, which no flush or fence can do, and this file does not use libpmemobj's "
			  "transactions. Options: write the new data elsewhere and switch to it by one 8-byte store that is persisted last (a commit "
			  "variable); a log that recovery replays; PMDK",
		list_stores(r, c));
	return -1;
}

/* Makes the transaction in the function of that depth; NULL with a reason. */
static struct tx *tx_at(struct repair *r, const struct repair_cure *c, size_t depth,
			const char **why)
{
	struct tx *t = xcalloc(1, sizeof *t);

	t->is_there = c->kind == CURE_LOG;
	if (find_statements(r, t, c, depth, why) == 0)
		return t;
	tx_free(t);
	return NULL;
}

/* Makes a new transaction. If the stores are from several executions of a function, its caller gets
 * the transaction. */
static struct tx *find_new(struct repair *r, const struct repair_cure *c, size_t depth,
			   const char **why)
{
	struct tx *t = tx_at(r, c, depth, why);
	bool is_of_several = t && t->is_of_several;

	while (t && t->is_of_several && depth-- > 0) {
		tx_free(t);
		t = tx_at(r, c, depth, why);
	}
	if (t && is_of_several && t->first == t->last)
		include_loop(t);
	return t;
}

/* Finds an existing transaction that contains the stores. The function that has it may be further
 * out than the common one. */
static struct tx *find_old(struct repair *r, const struct repair_cure *c, size_t depth,
			   const char **why)
{
	const char *ignored;

	for (size_t d = depth + 1; d-- > 0;) {
		struct tx *t = tx_at(r, c, d, &ignored);

		if (t && tx_is_in_work(t->x.unit, t->x.file, t->x.function, t->first))
			return t;
		if (t)
			tx_free(t);
	}
	return tx_at(r, c, depth, why);
}

int tx_plan(struct repair *r, size_t bug, const struct repair_cure *c, const char **why)
{
	size_t depth = c->nstores > 0 ? common_depth(c) : SIZE_MAX;
	struct tx *t;

	*why = "the stores have no caller in common";
	if (depth == SIZE_MAX)
		return -1;
	t = (c->kind == CURE_LOG ? find_old : find_new)(r, c, depth, why);
	if (!t || check_library(r, t, c, why) < 0) {
		if (t)
			tx_free(t);
		return -1;
	}
	t->is_hidden = t->is_there && !tx_is_in_work(t->x.unit, t->x.file, t->x.function, t->first);
	*vec_add(&t->bugs) = bug;
	*vec_add(&t->cures) = c;
	*vec_add(&r->tx->list) = t;
	return 0;
}
