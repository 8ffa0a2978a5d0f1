/* What an abort comes to must be what the code base expects. The program may end only where nothing shows that callers are told of an abort; C macros do not
 * go where exceptions would leave the transaction open. */
#include <string.h>

#include "repair/tx/internal.h"

/* A transaction that would be inside of this one, in a function that is called; 0: none. Whoever calls that function is told of its abort there; in another one, it is not. */
static uint32_t line_of_inner(const struct tx *t)
{
	const struct source_node *body = t->x.function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->kind == SOURCE_CALL && tx_holds(t, n) && !macro_use(t->x.unit, t->x.file->path, n) && tx_call_begins(t->x.unit, n))
			return n->line;
	return 0;
}

static bool uses_macros(const struct tx *t)
{
	for (size_t i = 0; i < t->x.unit->nuses; i++)
		if (strcmp(t->x.unit->uses[i].name, "TX_BEGIN") == 0 && strcmp(t->x.unit->uses[i].file, t->x.file->path) == 0)
			return true;
	return false;
}

const char *tx_convention_why(struct repair *r, struct tx *t)
{
	uint32_t inner;

	if (t->is_there || t->old || t->wrapper)
		return NULL;
	if (t->x.unit->is_cplusplus && !uses_macros(t) && !tx_is_quiet(t))
		return text_format(r->code, "an exception would leave the transaction that %s needs open, as this file shows no function that runs one", t->x.function->name);
	if (t->error || t->variable || strcmp(tx_ending(r, t), "abort();") != 0)
		return NULL;
	if (tx_shows_errors(r, t))
		return text_format(r->code, "other transactions of this file tell their callers of an abort, and how %s could is not seen: let it return an error", t->x.function->name);
	inner = line_of_inner(t);
	if (inner)
		return text_format(r->code, "line %u runs a transaction of its own, and what %s should do when that aborts is not seen: let it return an error", inner, t->x.function->name);
	return NULL;
}
