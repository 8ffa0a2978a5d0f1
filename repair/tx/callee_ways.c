/* Decides how a function that a transaction calls gets its logs. If only transactions call the
 * function, it is changed itself. If others do, too, the transaction calls a copy (`give_tx` for
 * `give`). If it cannot be copied, it logs only if a transaction is open. */
#include "repair/tx/internal.h"

/* ---- the way of each function ---- */

static int list_path(struct repair *r, const struct tx_path *p, const char **why)
{
	for (size_t k = p->from; k < p->at; k++) {
		struct fix x = { 0 };

		if (fix_enter_frame(r, &x, p->place, k, why) < 0)
			return -1;
		if (!tx_callee_find(r, x.function))
			*vec_add(&r->tx->callees) = (struct tx_callee){ .x = x };
	}
	return 0;
}

/* Returns a store of the function itself that must be logged; NULL: the function only calls
 * functions that log. */
static const struct source_node *stored_by(const struct repair *r, const struct source_function *f)
{
	for (size_t i = 0; i < r->tx->list.n; i++)
		for (size_t k = 0; k < r->tx->list.at[i]->logs.n; k++)
			if (function_is_same(r->tx->list.at[i]->logs.at[k].x.function, f))
				return r->tx->list.at[i]->logs.at[k].x.store;
	return NULL;
}

/* Asks whether the copy can be called at that point of the path: from the transaction, or from a
 * function that is changed or copied itself. */
static bool may_copy(struct repair *r, const struct tx_path *p, size_t k, const struct tx_callee *c)
{
	struct fix caller = { 0 };
	const char *why;
	const struct source_node *call =
		call_of_frame(r, &caller, p->place, k + 1, c->x.function->name, &why);
	const struct tx_callee *by =
		call && k + 1 < p->at ? tx_callee_find(r, caller.function) : NULL;

	return call && !(by && by->way == TX_GUARDED) && !tx_is_redirected(r, caller.file, call) &&
	       clone_function_check(r, c->x.unit, c->x.file, c->x.function, &why) == 0 &&
	       clone_call_check(r, caller.unit, caller.file, call, c->x.function, &why) == 0;
}

static bool guard_some(struct repair *r, const struct tx *t)
{
	bool is_changed = false;

	for (size_t i = 0; i < t->paths.n; i++)
		for (size_t k = t->paths.at[i].at; k-- > t->paths.at[i].from;) {
			struct fix x = { 0 };
			struct tx_callee *c;
			const char *why;

			if (fix_enter_frame(r, &x, t->paths.at[i].place, k, &why) < 0)
				continue;
			c = tx_callee_find(r, x.function);
			if (c->way == TX_COPIED && !may_copy(r, &t->paths.at[i], k, c)) {
				c->way = TX_GUARDED;
				is_changed = true;
			}
		}
	return is_changed;
}

/* Finds what the functions allocate and release, which an abort must undo, too. */
static void find_allocations(struct repair *r)
{
	for (size_t i = 0; i < r->tx->list.n; i++)
		for (size_t k = 0; !r->tx->list.at[i]->why && !r->tx->list.at[i]->is_there &&
				   k < r->tx->list.at[i]->paths.n;
		     k++)
			for (size_t n = r->tx->list.at[i]->paths.at[k].from;
			     n < r->tx->list.at[i]->paths.at[k].at; n++) {
				struct fix x = { 0 };
				struct tx_callee *c;
				const char *why;

				if (fix_enter_frame(r, &x, r->tx->list.at[i]->paths.at[k].place, n,
						    &why) < 0)
					continue;
				c = tx_callee_find(r, x.function);
				if (!c->inner)
					c->inner = tx_callee_allocations(r, c);
				if (c->inner && c->inner->why)
					r->tx->list.at[i]->why = c->inner->why;
			}
}

void tx_callees_find(struct repair *r)
{
	bool is_changed;
	const char *why;

	tx_callees_release(r);
	for (size_t i = 0; i < r->tx->list.n; i++)
		for (size_t k = 0; !r->tx->list.at[i]->why && k < r->tx->list.at[i]->paths.n; k++)
			if (list_path(r, &r->tx->list.at[i]->paths.at[k], &why) < 0)
				r->tx->list.at[i]->why = why;
	for (size_t i = 0; i < r->tx->callees.n; i++) {
		struct tx_callee *c = &r->tx->callees.at[i];

		c->callers = tx_callers(r, c->x.unit, c->x.function, stored_by(r, c->x.function));
		/* a copy would leave the original broken for unknown callers */
		c->way = c->callers == TX_ONLY_INSIDE ? TX_INSIDE
			 : c->callers == TX_NOT_KNOWN ? TX_GUARDED
						      : TX_COPIED;
	}
	do {
		is_changed = false;
		for (size_t i = 0; i < r->tx->list.n; i++)
			if (!r->tx->list.at[i]->why)
				is_changed |= guard_some(r, r->tx->list.at[i]);
	} while (is_changed);
	find_allocations(r);
}
