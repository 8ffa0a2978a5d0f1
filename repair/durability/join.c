/* Joins an existing flush and the fence that is added behind it into one call such as persist(), if
 * the file uses one. They stay separate if an earlier flush of the block waits for the same fence:
 * "flush, flush, fence" is the usual way to write that. */
#include <string.h>

#include "repair/durability/internal.h"

static const struct source_node *previous(const struct source_node *n)
{
	const struct source_node *p = n->parent ? n->parent->child : NULL;

	while (p && p != n && p->next != n)
		p = p->next;
	return p == n ? NULL : p;
}

/* Returns what the last call or macro of the statement that flushes or fences does. */
static unsigned ends_with(struct repair *r, const struct fix *x, const struct source_node *stmt)
{
	const struct source_use *use = macro_use(x->unit, x->file->path, stmt);
	unsigned last = use ? idiom_macro_ends(r, x->unit, use->name) : 0;

	for (const struct source_node *n = use ? NULL : stmt; n; n = node_next(n, stmt)) {
		unsigned does = n->kind == SOURCE_CALL
					? idiom_call_does(r, x->unit, n) & (DOES_FLUSH | DOES_FENCE)
					: 0;

		last = does ? does : last;
	}
	return last;
}

bool join_is_shared(struct repair *r, const struct fix *x, const struct source_node *flush)
{
	unsigned does = 0;

	for (const struct source_node *n = previous(flush); n && !does; n = previous(n))
		does = ends_with(r, x, n);
	return does == DOES_FLUSH;
}

static bool is_amended(const struct repair *r, const struct fix *x, const struct source_node *stmt)
{
	for (size_t i = 0; i < r->durability->amendments.n; i++)
		if (r->durability->amendments.at[i].at.file == x->file &&
		    r->durability->amendments.at[i].at.stmt->begin == stmt->begin)
			return true;
	return false;
}

/* Returns "x" if the flush is of "&x" with the size of x, or without a length; else NULL. */
static const char *whole_thing(struct repair *r, const struct idiom_flush *f)
{
	const char *thing = f->addr[0] == '&' ? f->addr + 1 : NULL;

	if (!thing || !f->len || strcmp(f->len, text_format(r->code, "sizeof(%s)", thing)) == 0 ||
	    strcmp(f->len, text_format(r->code, "sizeof %s", thing)) == 0)
		return thing;
	return NULL;
}

const char *join_words(struct repair *r, const struct fix *x, const struct source_node *flush)
{
	const struct idiom_line *lines;
	struct fix at = *x;
	struct idiom_flush f;
	struct idiom i;
	const char *why;

	if (!idiom_flush_at(r, x->unit, x->file, flush, &f) || f.does != DOES_FLUSH || !f.addr ||
	    f.is_short || macro_use(x->unit, x->file->path, flush) || is_amended(r, x, flush))
		return NULL;
	at.store = at.stmt = flush;
	at.range = (struct range){ .addr = f.addr, .thing = whole_thing(r, &f), .names = flush };
	at.range.len = f.len            ? f.len
		       : at.range.thing ? text_format(r->code, "sizeof(%s)", at.range.thing)
					: NULL;
	if (!at.range.len)
		return NULL;
	idiom_find(r, &at, &i);
	if (!i.persist.call || !i.persist.uses || i.persist.guard || i.fence.guard ||
	    i.persist.is_statement)
		return NULL;
	i.flush.call = i.line.call = i.scope.call = NULL;
	lines = idiom_lines(r, &i, &at.range, true, true, false, &why);
	return lines && lines[0].text && !lines[1].text ? lines[0].text : NULL;
}

bool join_insertion(struct repair *r, const struct insertion *a)
{
	const struct source_node *flush = a->stmt;
	struct idiom i;
	const char *words;

	if (a->lines.n != 1 || a->lines.at[0].guard || a->result_type ||
	    flush->kind != SOURCE_CALL || r->options->flush_call || r->options->fence_call ||
	    join_is_shared(r, a->x, flush))
		return false;
	idiom_find(r, a->x, &i);
	words = i.fence.call && strcmp(a->lines.at[0].text, i.fence.call) == 0
			? join_words(r, a->x, flush)
			: NULL;
	if (words)
		file_edit(a->x->file, flush->begin, flush->end - flush->begin, words);
	return words != NULL;
}
