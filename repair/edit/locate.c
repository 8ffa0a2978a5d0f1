/* Finds the store or call that the report means, by its line and column. The column is that of the
 * operator (gcc) or of the expression's beginning (clang). Without a column, a line with several
 * stores is ambiguous, and nothing is found. */
#include <string.h>

#include "repair/edit/internal.h"

const char *atomic_operation(const struct file *f, const struct source_node *n)
{
	static const char *const words[] = { "__atomic_", "__sync_", "__c11_atomic_", "atomic_" };

	for (size_t i = 0; n->kind == SOURCE_EXPR && i < sizeof words / sizeof words[0]; i++)
		if (n->begin + 40 < f->len_bytes &&
		    strncmp(f->text + n->begin, words[i], strlen(words[i])) == 0)
			return f->text + n->begin + strlen(words[i]);
	return NULL;
}

static bool is_atomic(const struct file *f, const struct source_node *n)
{
	const char *operation = atomic_operation(f, n);

	return operation && strncmp(operation, "load", 4) != 0;
}

static bool publishes(struct codebase *code, const struct source_unit *u, const struct file *f,
		      const struct source_node *top, unsigned depth)
{
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		const struct source_function *callee =
			n->kind == SOURCE_CALL && n->name && depth > 0 ? function_named(u, n->name)
								       : NULL;
		const struct file *in = callee ? file_open(code, callee->file) : NULL;

		if ((node_is_assignment(n) && n->child && n->child->is_volatile &&
		     !n->child->is_local) ||
		    is_atomic(f, n) || atomic_object(n) ||
		    (in && publishes(code, u, in, callee->body, depth - 1)))
			return true;
	}
	return false;
}

bool node_publishes(struct codebase *code, const struct source_unit *u, const struct file *f,
		    const struct source_node *top)
{
	return publishes(code, u, f, top, 2);
}

bool node_is_store(const struct source_unit *u, const struct file *f, const struct source_node *n)
{
	if (atomic_object(n) || (n->kind == SOURCE_CALL && call_writes_to(u, n) != WRITES_NOTHING))
		return true;
	if (is_atomic(f, n) && n->child &&
	    (!n->parent || n->parent->begin != n->begin || n->parent->end != n->end))
		return true;
	if (n->kind == SOURCE_BINARY && !n->op[0] && macro_use(u, f->path, n))
		return true;
	return node_is_assignment(n) && !node_is_own_variable(n->child);
}

/* Returns the offset of a line and column; 0 for column 0. */
uint32_t file_offset(const struct file *f, uint32_t line, uint32_t column)
{
	uint32_t at = 0;

	if (!column)
		return 0;
	for (uint32_t i = 1; i < line && at < f->len_bytes; i++)
		at = text_line_end(f, at) + 1;
	return at + column - 1;
}

static uint32_t line_of(const struct file *f, uint32_t at)
{
	uint32_t line = 1;

	for (uint32_t i = 0; i < at && i < f->len_bytes; i++)
		line += f->text[i] == '\n';
	return line;
}

/* Says how well the node fits the place; more is better. 0: it does not fit. */
static unsigned fit(const struct file *f, const struct source_node *n, uint32_t line, uint32_t at)
{
	const struct source_node *a = n->child, *b = a ? a->next : NULL;

	if (at && n->kind == SOURCE_BINARY && b && a->end <= at && at < b->begin)
		return 5;
	if (at && n->begin == at)
		return 4;
	if (at && n->begin <= at && at < n->end)
		return 3;
	if (n->line == line || (n->line < line && line <= line_of(f, n->end)))
		return 2;
	return 0;
}

const struct source_node *store_at(const struct source_unit *u, const struct source_function *fn,
				   const struct file *f, uint32_t line, uint32_t column)
{
	const struct source_node *best = NULL;
	uint32_t at = file_offset(f, line, column);
	unsigned best_fit = 0, nbest = 0;

	for (const struct source_node *n = fn->body; n; n = node_next(n, fn->body)) {
		unsigned how = n->line <= line && node_is_store(u, f, n) ? fit(f, n, line, at) : 0;

		if (how > 0 && n->kind == SOURCE_BINARY && !n->op[0])
			how = 1; /* a macro hides the operator: anything else fits better */
		if (how == 0 || how < best_fit)
			continue;
		nbest = how == best_fit && how == 2 ? nbest + 1 : 1;
		/* the innermost node that contains the place */
		if (how > best_fit || how == 3 || (how == 5))
			best = n;
		best_fit = how;
	}
	return nbest == 1 ? best : NULL;
}

const struct source_node *call_at(const struct source_function *fn, const char *callee,
				  uint32_t line, uint32_t column)
{
	const struct source_node *found = NULL;
	unsigned n_on_line = 0;

	for (const struct source_node *n = fn->body; n; n = node_next(n, fn->body)) {
		if (n->kind != SOURCE_CALL || n->line != line || !n->name ||
		    strcmp(n->name, callee) != 0)
			continue;
		if (n->column == column)
			return n;
		found = n;
		n_on_line++;
	}
	return n_on_line == 1 ? found : NULL;
}
