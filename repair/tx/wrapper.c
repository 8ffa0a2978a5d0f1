/* Finds how a C++ file writes transactions: RUN(pool, [&] { … }), where RUN is a function that runs
 * a lambda in a transaction, and also ends the transaction after an exception. */
#include <string.h>

#include "repair/tx/internal.h"

static const struct source_node *lambda_of(const struct source_node *call)
{
	const struct source_node *n = call->last;

	while (n && n->kind == SOURCE_EXPR && n->child && n->child == n->last)
		n = n->child;
	return n && n->kind == SOURCE_LAMBDA ? n : NULL;
}

static bool is_pool(const struct source_node *n)
{
	return n->type && strstr(n->type, "pool");
}

/* Uses a call as the pattern if it passes a pool (or none) and a lambda that captures all
 * variables. */
static bool take(struct repair *r, struct tx *t, const struct source_node *call)
{
	const struct file *f = t->x.file;
	const struct source_node *lambda = lambda_of(call),
				 *first = call->child ? call->child->next : NULL;
	const char *open =
		lambda ? memchr(f->text + call->begin, '(', lambda->begin - call->begin) : NULL;
	const char *brace =
		lambda ? memchr(f->text + lambda->begin, '{', lambda->end - lambda->begin) : NULL;
	bool has_pool = first && first != call->last;

	if (!open || !brace || macro_use(t->x.unit, f->path, call) ||
	    strncmp(f->text + lambda->begin, "[&]", 3) != 0 ||
	    memchr(f->text + lambda->begin, '>', (size_t)(brace - f->text) - lambda->begin) ||
	    (has_pool && (first->next != call->last || !is_pool(first))) ||
	    !tx_runs_lambda(t->x.unit, f, call, lambda))
		return false;
	t->wrapper = text_copy(r->code, f->text + call->begin,
			       (size_t)(open + 1 - f->text) - call->begin);
	t->capture = text_format(r->code, "%s%s", has_pool ? ", " : "",
				 text_copy(r->code, f->text + lambda->begin,
					   (size_t)(brace + 1 - f->text) - lambda->begin));
	return true;
}

void tx_find_wrapper(struct repair *r, struct tx *t)
{
	t->wrapper = t->capture = NULL;
	for (size_t i = 0; t->x.unit->is_cplusplus && !t->is_there && i < t->x.unit->nfunctions;
	     i++) {
		const struct source_function *f = &t->x.unit->functions[i];

		for (const struct source_node *n = strcmp(f->file, t->x.file->path) == 0 ? f->body
											 : NULL;
		     n; n = node_next(n, f->body))
			if (n->kind == SOURCE_CALL && n->parent &&
			    n->parent->kind == SOURCE_COMPOUND && take(r, t, n))
				return;
	}
}
