/* Plans logs for stores that are inside a transaction and not logged by it: findings of kind
 * tx-missing-add, and other findings about such a store. The log is what is missing. A flush would
 * make the store durable before its transaction, which then could not undo the store. */
#include "repair/tx/tx.h"

#include <string.h>

#include "repair/tx/internal.h"
#include "util/str.h"

static bool is_add(const struct repair_bug *b)
{
	return b->kind && strcmp(b->kind, "tx-missing-add") == 0;
}

static bool is_about_flushes(const struct repair_bug *b)
{
	static const char *const kinds[] = { "missing-flush", "missing-flush-fence",
					     "missing-fence", "ordering", "ack-before-durable" };

	for (size_t i = 0; b->kind && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(b->kind, kinds[i]) == 0)
			return true;
	return false;
}

/* Asks whether the place is the store that the bug is about. */
static bool is_subject(const struct repair_place *p)
{
	return p->role && p->nframes > 0 &&
	       (strcmp(p->role, "store") == 0 || strcmp(p->role, "lost") == 0);
}

/* ---- whether the store is in a transaction ---- */

static bool same_store(const struct repair_place *a, const struct repair_place *b)
{
	return a->frames[0].line == b->frames[0].line &&
	       a->frames[0].column == b->frames[0].column &&
	       str_same(a->frames[0].file, b->frames[0].file);
}

/* Asks whether a tx-missing-add finding names the same store. */
static bool is_reported(const struct repair *r, const struct repair_place *p)
{
	for (size_t i = 0; i < r->bugs.n; i++)
		for (size_t k = 0; is_add(r->bugs.at[i]) && k < r->bugs.at[i]->nplaces; k++)
			if (is_subject(&r->bugs.at[i]->places[k]) &&
			    same_store(&r->bugs.at[i]->places[k], p))
				return true;
	return false;
}

/* Asks whether the function uses a NO_FLUSH flag. Then the commit does not flush the range, and the
 * program has to. */
static bool flushes_itself(const struct fix *x)
{
	return memmem(x->file->text + x->function->begin, x->function->end - x->function->begin,
		      "NO_FLUSH", 8) != NULL;
}

/* Asks whether the source shows that the store is in a transaction, in its function or in one that
 * calls it. */
static bool is_seen(struct repair *r, const struct repair_place *p)
{
	for (size_t i = 0; i < p->nframes; i++) {
		const struct source_node *stmt;
		struct fix x = { 0 };
		const char *why;

		if (fix_enter_frame(r, &x, p, i, &why) < 0)
			continue;
		stmt = tx_statement(x.function, x.file, p->frames[i].line, p->frames[i].column);
		if (flushes_itself(&x))
			return false;
		if (stmt && tx_is_in_work(x.unit, x.file, x.function, stmt))
			return true;
	}
	return false;
}

bool tx_is_wanted(struct repair *r, size_t bug)
{
	const struct repair_bug *b = r->bugs.at[bug];
	size_t n = 0;

	if (is_add(b))
		return true;
	for (size_t i = 0; is_about_flushes(b) && i < b->nplaces; i++)
		if (is_subject(&b->places[i])) {
			if (!is_reported(r, &b->places[i]) && !is_seen(r, &b->places[i]))
				return false;
			n++;
		}
	return n > 0;
}

/* ---- what to log ---- */

/* Returns the place without the frames inside the first one that has the store in its line. A value
 * that an inlined function or a class computes is stored further out. */
static struct repair_place from_store(struct repair *r, const struct repair_place *p)
{
	struct repair_place at = *p;

	at.role = "store";
	for (size_t i = 0; i < p->nframes; i++) {
		const struct repair_frame *f = &p->frames[i];
		struct fix x = { 0 };
		const char *why;

		if (fix_enter_frame(r, &x, p, i, &why) < 0 ||
		    !store_at(x.unit, x.function, x.file, f->line, f->column))
			continue;
		at.frames += i;
		at.nframes -= i;
		break;
	}
	return at;
}

/* Asks whether the store was acknowledged before the end of its transaction, which makes it
 * durable. Then the answer comes too early; a log would not help. */
static bool is_told_early(const struct repair *r, const struct repair_bug *b)
{
	for (size_t i = 0; strcmp(b->kind, "ack-before-durable") == 0 && i < b->nplaces; i++)
		if (is_subject(&b->places[i]) && !is_reported(r, &b->places[i]))
			return true;
	return false;
}

/* Plans the log of these stores, as if a trial on the trace had shown that the transaction must log
 * them. -1 with a reason. */
int tx_plan_add(struct repair *r, size_t bug, const char **why)
{
	const struct repair_bug *b = r->bugs.at[bug];
	struct repair_cure *c = arena_alloc(&r->code->arena, sizeof *c);
	struct repair_place *stores =
		arena_alloc(&r->code->arena, (b->nplaces + 1) * sizeof *stores);
	size_t n = 0;

	*why = "the store is inside a transaction, which makes it durable at its end: what is told before must be told after it";
	if (is_told_early(r, b))
		return -1;
	for (size_t i = 0; i < b->nplaces; i++)
		if (is_subject(&b->places[i]))
			stores[n++] = from_store(r, &b->places[i]);
	*c = (struct repair_cure){
		.kind = CURE_LOG, .stores = stores, .nstores = n, .observed = stores, .nobserved = n
	};
	*why = "the report does not say which store it is";
	return n > 0 ? tx_plan(r, bug, c, why) : -1;
}

/* ---- the outcome ---- */

static const struct tx_log *log_for(const struct tx *t, size_t bug, const struct repair_cure *c)
{
	const struct tx_log *found = NULL;

	for (size_t i = 0; i < t->logs.n && !found; i++)
		if (t->logs.at[i].x.bug == bug ||
		    (c->nstores > 0 && t->logs.at[i].line == c->stores[0].frames[0].line))
			found = &t->logs.at[i];
	for (size_t i = 0; found && found->is_dropped && i < t->logs.n; i++)
		if (!t->logs.at[i].is_dropped && tx_log_covers(&t->logs.at[i], found))
			found = &t->logs.at[i];
	for (size_t i = 0; found && found->is_dropped && i < t->logs.n; i++)
		if (t->logs.at[i].by &&
		    (found == &t->logs.at[i] || tx_log_covers(&t->logs.at[i], found)))
			return t->logs.at[i].by;
	return found;
}

const char *tx_add_outcome(struct repair *r, const struct tx *t, size_t i)
{
	const struct tx_log *l = log_for(t, t->bugs.at[i], t->cures.at[i]);
	const struct tx_callee *c = l && l->is_foreign ? tx_callee_find(r, l->x.function) : NULL;
	const char *guard = l && l->guard               ? l->guard
			    : c && c->way == TX_GUARDED ? tx_callers_why(c->callers)
							: NULL,
		   *text;

	if (!l && tx_macro_log_of(r, t->bugs.at[i]))
		return text_format(r->code, "%s added in macro %s",
				   tx_macro_log_of(r, t->bugs.at[i])->text,
				   tx_macro_log_of(r, t->bugs.at[i])->name);
	if (!l)
		return text_format(r->code, "the transaction in %s now logs it",
				   t->x.function->name);
	if (l->late)
		return text_format(r->code,
				   "the store moves into the transaction in %s, which logs it: %s",
				   l->x.function->name, l->text);
	text = text_format(r->code, "%s%s in %s", l->text, l->moved ? " moved up" : " added",
			   l->x.function->name);
	if (c && c->way == TX_COPIED)
		text = text_format(r->code, "%s's copy for transactions, because %s", text,
				   tx_callers_why(c->callers));
	return guard ? text_format(r->code, "%s, if a transaction is open, because %s", text, guard)
		     : text;
}
