/* A transaction that the program has, and whose neighbours belong into it, is extended: its first and its last line move outwards. What it does
 * when it is aborted stays. Not if what moves in would see other variables there, or sets variables that are looked at after an abort. */
#include <string.h>

#include "repair/tx/internal.h"

const struct source_use *tx_use_named(const struct tx *t, const char *name, uint32_t from, uint32_t to, bool is_last)
{
	const struct source_use *found = NULL;

	for (size_t i = 0; i < t->x.unit->nuses; i++) {
		const struct source_use *u = &t->x.unit->uses[i];

		if (strcmp(u->name, name) == 0 && u->begin >= from && u->end <= to && strcmp(u->file, t->x.file->path) == 0 &&
		    (!found || (is_last ? u->begin > found->begin : u->begin < found->begin)))
			found = u;
	}
	return found;
}

bool tx_is_transaction(const struct tx *t, const struct source_node *stmt)
{
	const struct source_use *u = tx_use_named(t, "TX_BEGIN", stmt->begin, t->x.file->len_bytes, false);

	return u && u->begin == stmt->begin;
}

/* The block of work is the one that begins behind TX_BEGIN(…). */
static const struct source_node *find_work(const struct source_node *stmt, uint32_t brace)
{
	for (const struct source_node *n = stmt; n; n = node_next(n, stmt))
		if (n->kind == SOURCE_COMPOUND && n->begin == brace)
			return n;
	return NULL;
}

const struct source_node *tx_work_of(const struct tx *t, const struct source_node *stmt)
{
	const struct source_use *begin = tx_use_named(t, "TX_BEGIN", stmt->begin, t->x.file->len_bytes, false);
	uint32_t brace = text_skip_blanks(t->x.file, begin->end);

	return t->x.file->text[brace] == '{' ? find_work(stmt, brace) : NULL;
}

static bool declares(const struct source_node *block, const char *name)
{
	for (const struct source_node *s = block->child; s; s = s->next)
		for (const struct source_node *v = s->kind == SOURCE_DECL ? s->child : NULL; v; v = v->next)
			if (v->kind == SOURCE_VARIABLE && v->name && strcmp(v->name, name) == 0)
				return true;
	return false;
}

/* What moves in neither uses a name that means something else inside nor sets a variable of the function. */
static bool may_move(const struct source_node *stmt, const struct source_node *work)
{
	if (stmt->kind == SOURCE_DECL)
		return false;
	for (const struct source_node *n = stmt; n; n = node_next(n, stmt)) {
		if (n->kind == SOURCE_NAME && n->name && declares(work, n->name))
			return false;
		if (node_is_assignment(n) && n->child && node_is_own_variable(n->child))
			return false;
	}
	return true;
}

void tx_extend(struct tx *t)
{
	const struct source_node *old = NULL, *work;
	const struct source_use *end;
	size_t n = 0;

	for (const struct source_node *s = t->first;; s = s->next) {
		if (tx_is_transaction(t, s)) {
			old = s;
			n++;
		}
		if (s == t->last)
			break;
	}
	if (n == 0)
		return;
	t->note = "an abort of a transaction inside is now one of the whole";
	if (n > 1 || t->first == t->last || t->flag || t->returns_at_end)
		return;
	work = tx_work_of(t, old);
	end = tx_use_named(t, "TX_END", old->begin, old->end + 8, true);
	if (!work || !end || end->begin < work->end)
		return;
	for (const struct source_node *s = t->first;; s = s->next) {
		if (s != old && !may_move(s, work))
			return;
		if (s == t->last)
			break;
	}
	t->note = NULL;
	t->old = old;
	t->head_begin = old->begin;
	t->head_end = work->begin + 1;
	t->tail_begin = work->end - 1;
	t->tail_end = end->end;
}
