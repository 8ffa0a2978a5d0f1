/* Keeps the list of functions that transactions call, and the files in which they are changed. A
 * function that others call, too, gets a copy. Calls inside transactions are changed to call the
 * copy: those on the recorded call paths, and all others that may run in a transaction. */
#include "repair/tx/internal.h"

struct tx_callee *tx_callee_find(struct repair *r, const struct source_function *f)
{
	for (size_t i = 0; i < r->tx->callees.n; i++)
		if (function_is_same(r->tx->callees.at[i].x.function, f))
			return &r->tx->callees.at[i];
	return NULL;
}

struct file *tx_callee_file(struct repair *r, const struct tx_callee *c)
{
	return c->way == TX_COPIED ? clone_for_tx(r, c->x.unit, c->x.file, c->x.function)->copy
				   : c->x.file;
}

void tx_callees_release(struct repair *r)
{
	for (size_t i = 0; i < r->tx->callees.n; i++)
		if (r->tx->callees.at[i].inner)
			tx_free(r->tx->callees.at[i].inner);
	r->tx->callees.n = 0;
}

/* Asks whether the call is already changed to call a copy that flushes. */
bool tx_is_redirected(const struct repair *r, const struct file *f, const struct source_node *call)
{
	for (size_t i = 0; i < r->redirects.n; i++)
		if (!r->redirects.at[i].to->is_for_tx && r->redirects.at[i].file == f &&
		    r->redirects.at[i].call->begin == call->begin)
			return true;
	return false;
}

/* ---- calling the copies ---- */

void tx_callees_copy(struct repair *r, const struct tx *t)
{
	for (size_t i = 0; i < t->paths.n; i++)
		for (size_t k = t->paths.at[i].from; k < t->paths.at[i].at; k++) {
			struct fix inner = { 0 }, outer = { 0 };
			const struct source_node *call;
			const char *why;

			if (fix_enter_frame(r, &inner, t->paths.at[i].place, k, &why) < 0 ||
			    tx_callee_find(r, inner.function)->way != TX_COPIED)
				continue;
			call = call_of_frame(r, &outer, t->paths.at[i].place, k + 1,
					     inner.function->name, &why);
			if (!call)
				BUG("a checked way to a call is gone: %s", why);
			clone_redirect(
				r, t->bugs.at[0], &outer,
				k + 1 < t->paths.at[i].at
					? tx_callee_file(r, tx_callee_find(r, outer.function))
					: outer.file,
				call, clone_for_tx(r, inner.unit, inner.file, inner.function));
		}
}

/* Changes all calls in the function, recorded or not, that run in a transaction. */
static void redirect_calls(struct repair *r, size_t bug, const struct fix *at, struct file *to,
			   const struct tx *within)
{
	const struct source_node *body = at->function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body)) {
		const struct source_function *f = n->kind == SOURCE_CALL && n->name
							  ? function_named(at->unit, n->name)
							  : NULL;
		const struct tx_callee *c = f ? tx_callee_find(r, f) : NULL;
		const char *why;

		if (c && c->way == TX_COPIED && (!within || tx_holds(within, n)) && n->child &&
		    n->child->kind == SOURCE_NAME && !macro_use(at->unit, at->file->path, n) &&
		    !tx_is_redirected(r, to, n) &&
		    clone_call_check(r, at->unit, at->file, n, c->x.function, &why) == 0)
			clone_redirect(r, bug, at, to, n,
				       clone_for_tx(r, c->x.unit, c->x.file, c->x.function));
	}
}

void tx_callees_redirect(struct repair *r)
{
	size_t bug = 0;

	for (size_t i = 0; i < r->tx->list.n; i++)
		if (!r->tx->list.at[i]->why) {
			bug = r->tx->list.at[i]->bugs.at[0];
			redirect_calls(r, bug, &r->tx->list.at[i]->x, r->tx->list.at[i]->x.file,
				       r->tx->list.at[i]);
		}
	for (size_t i = 0; i < r->tx->callees.n; i++)
		if (r->tx->callees.at[i].way != TX_GUARDED)
			redirect_calls(r, bug, &r->tx->callees.at[i].x,
				       tx_callee_file(r, &r->tx->callees.at[i]), NULL);
}
