/* The functions that transactions call: the list of them, and where each is changed. */
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
	return c->way == TX_COPIED ? clone_for_tx(r, c->x.unit, c->x.file, c->x.function)->copy : c->x.file;
}

void tx_callees_release(struct repair *r)
{
	for (size_t i = 0; i < r->tx->callees.n; i++)
		if (r->tx->callees.at[i].inner)
			tx_free(r->tx->callees.at[i].inner);
	r->tx->callees.n = 0;
}

/* It goes to a copy that flushes already. */
bool tx_is_redirected(const struct repair *r, const struct file *f, const struct source_node *call)
{
	for (size_t i = 0; i < r->redirects.n; i++)
		if (!r->redirects.at[i].to->is_for_tx && r->redirects.at[i].file == f && r->redirects.at[i].call->begin == call->begin)
			return true;
	return false;
}
