/* Decides which planned transactions can be written, writes them, and sets the outcomes of their
 * bugs. A transaction that cannot be written may change what others must log, so all are checked
 * again until nothing changes. */
#include "repair/tx/tx.h"

#include <stdlib.h>
#include <string.h>

#include "repair/tx/internal.h"

/* Prepares a transaction: forgets results of an earlier try, and finds the transaction's ends and
 * its logs. -1 with t->why. */
static int tx_prepare(struct repair *r, struct tx *t)
{
	t->logs.n = t->paths.n = t->changes.n = t->declarations.n = t->allocated.n = t->needless.n =
		0;
	t->result = t->flag = t->label = t->result_type = t->note = NULL;
	t->old = NULL;
	t->error = t->aborted = NULL;
	t->returns_at_end = false;
	tx_find_wrapper(r, t);
	tx_join(r, t);
	if (t->joint_end)
		return tx_logs(r, t);
	return tx_set_boundaries(r, t) < 0 || tx_logs(r, t) < 0 ? -1 : 0;
}

static int tx_complete(struct repair *r, struct tx *t)
{
	if (tx_allocations(r, t) < 0)
		return -1;
	t->needless.n = 0;
	t->error = NULL;
	if (t->joint_end)
		return 0;
	if (!t->is_there) {
		tx_extend(t);
		tx_persists(r, t);
	}
	t->error = t->old || t->wrapper ? NULL : tx_error_value(r, t);
	t->variable = NULL;
	t->zero = NULL;
	if (!t->old && !t->is_there && !t->wrapper)
		tx_follow_custom(r, t);
	t->aborted = t->error && !t->variable ? tx_free_name(r, t, "is_aborted") : NULL;
	t->why = tx_convention_why(r, t);
	if (t->why)
		return -1;
	t->pool = tx_pool(r, t);
	if (!t->pool && !t->is_there) {
		t->why = text_format(r->code, "no pool is available in %s", t->x.function->name);
		return -1;
	}
	return 0;
}

static size_t count_written(const struct repair *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->tx->list.n; i++)
		n += !r->tx->list.at[i]->why;
	return n;
}

/* Checks all transactions until none is given up any more: which function is called in transactions
 * depends on which of them are written. */
static void complete_all(struct repair *r)
{
	bool is_settled = false;
	size_t before;

	while (!is_settled) {
		r->tx->macro_logs.n = 0;
		for (size_t i = 0; i < r->tx->list.n; i++)
			if (!r->tx->list.at[i]->why)
				tx_prepare(r, r->tx->list.at[i]);
		before = count_written(r);
		tx_callees_find(r);
		for (size_t i = 0; i < r->tx->list.n; i++)
			if (!r->tx->list.at[i]->why)
				tx_complete(r, r->tx->list.at[i]);
		is_settled = count_written(r) == before;
	}
}

static bool has_persist(const struct tx *t)
{
	const struct source_node *body = t->x.function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->kind == SOURCE_CALL && n->name && strcmp(n->name, "pmemobj_persist") == 0 &&
		    tx_holds(t, n) && !tx_is_needless(t, n))
			return true;
	return false;
}

static bool has_log(const struct tx *t, const struct source_node *store)
{
	for (size_t i = 0; i < t->logs.n; i++)
		if (t->logs.at[i].x.store == store)
			return true;
	return false;
}

/* Returns the line of a store inside that the recorded run did not execute, so that it is unknown
 * whether the store is to persistent memory; 0: none. */
static uint32_t find_unseen(const struct tx *t)
{
	const struct source_node *body = t->x.function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (tx_holds(t, n) && node_is_assignment(n) &&
		    node_is_store(t->x.unit, t->x.file, n) && !has_log(t, n) &&
		    !macro_use(t->x.unit, t->x.file->path, n) && !tx_is_observed(t, t->x.file, n))
			return n->line;
	return 0;
}

/* Returns text that names the functions that have copies for this transaction. */
static const char *copies_of(struct repair *r, const struct tx *t)
{
	const char *text = "";

	for (size_t i = 0; i < t->paths.n; i++)
		for (size_t k = t->paths.at[i].at; k-- > t->paths.at[i].from;) {
			struct fix x = { 0 };
			const char *why;

			if (fix_enter_frame(r, &x, t->paths.at[i].place, k, &why) == 0 &&
			    tx_callee_find(r, x.function)->way == TX_COPIED &&
			    !text_has_word(text, x.function->name))
				text = text_format(r->code, "%s%s%s", text,
						   *text ? ", " : "; it calls copies of ",
						   x.function->name);
		}
	return text;
}

static const char *what_was_done(struct repair *r, const struct tx *t)
{
	uint32_t unseen = find_unseen(t);
	size_t n = 0;

	for (size_t i = 0; i < t->logs.n; i++)
		n += !t->logs.at[i].is_dropped;
	if (t->joint_end)
		return text_format(r->code, "two transactions in %s become one",
				   t->x.function->name);
	return text_format(
		r->code, "%s %s that logs %zu%s place%s%s%s%s%s%s",
		t->old ? "the transaction in" : "a transaction in", t->x.function->name, n,
		t->old ? " more" : "", n == 1 ? "" : "s", copies_of(r, t), t->note ? "; " : "",
		t->note ? t->note : "",
		has_persist(t) ? "; pmemobj_persist inside it is no longer needed" : "",
		unseen ? text_format(
				 r->code,
				 "; the store in line %u did not run when it was recorded, and is not logged",
				 unseen)
		       : "");
}

/* Drops flushes of stores that the transaction logs: the commit writes them back. */
static void drop_flushes(struct repair *r, const struct tx *t)
{
	for (size_t i = 0; i < r->fixes.n; i++) {
		struct fix *x = &r->fixes.at[i];

		for (size_t k = 0; x->needs_flush && !x->is_dropped && k < t->logs.n; k++)
			if (!t->logs.at[k].is_foreign && t->logs.at[k].x.file == x->file &&
			    t->logs.at[k].x.store == x->store) {
				x->is_dropped = true;
				r->outcomes.at[x->bug].text = text_format(
					r->code, "the transaction in %s makes it durable",
					t->x.function->name);
				group_join(r, t->bugs.at[0], x->bug);
			}
	}
}

void transactions_new(struct repair *r)
{
	r->tx = xcalloc(1, sizeof *r->tx);
}

void transactions_free(struct repair *r)
{
	tx_forget(r);
	vec_release(&r->tx->list);
	vec_release(&r->tx->callees);
	for (size_t i = 0; i < r->tx->add_calls.n; i++) {
		vec_release(&r->tx->add_calls.at[i]->list);
		free(r->tx->add_calls.at[i]);
	}
	vec_release(&r->tx->add_calls);
	vec_release(&r->tx->macro_logs);
	vec_release(&r->tx->again);
	free(r->tx);
}

void tx_forget(struct repair *r)
{
	for (size_t i = 0; i < r->tx->list.n; i++)
		tx_free(r->tx->list.at[i]);
	r->tx->list.n = r->tx->macro_logs.n = r->tx->again.n = 0;
	tx_callees_release(r);
}

void tx_settle(struct repair *r)
{
	tx_merge(r);
	complete_all(r);
	for (size_t i = 0; i < r->tx->list.n; i++)
		if (!r->tx->list.at[i]->why)
			drop_flushes(r, r->tx->list.at[i]);
}

void tx_finish(struct repair *r)
{
	for (size_t i = 0; i < r->tx->list.n; i++)
		if (!r->tx->list.at[i]->why)
			tx_callees_copy(r, r->tx->list.at[i]);
	tx_callees_redirect(r);
	for (size_t i = 0; i < r->tx->callees.n; i++)
		tx_emit_callee(r, &r->tx->callees.at[i]);
	tx_emit_macro_logs(r);
	tx_emit_again(r);
	for (size_t i = 0; i < r->tx->list.n; i++) {
		struct tx *t = r->tx->list.at[i];

		if (!t->why) {
			tx_emit(r, t);
			r->ntransactions += !t->is_there && !t->old && !t->joint_end;
			for (size_t k = 0; t->is_there && k < t->logs.n; k++)
				r->nlogs += t->logs.at[k].is_written;
		}
		for (size_t k = 0; k < t->bugs.n; k++)
			r->outcomes.at[t->bugs.at[k]] =
				(struct repair_outcome){ t->why ? REPAIR_DECLINED : REPAIR_MENDED,
							 t->why        ? t->why
							 : t->is_there ? tx_add_outcome(r, t, k)
								       : what_was_done(r, t),
							 NULL };
	}
}
