/* Conditional compilation. If a transaction began between #if and #endif and ended outside, or the other way round, half of it would be left when the
 * condition is not met: its ends move outwards until each #if between them has its #endif there. What is compiled under other conditions
 * is not seen. */
#include <string.h>

#include "repair/tx/internal.h"

enum balance {
	BALANCED,
	BEGINS_INSIDE, /* of a condition that ends before the transaction does */
	ENDS_INSIDE,
};

static bool is_directive(const char *line, const char *word)
{
	line += strspn(line, " \t");
	if (*line != '#')
		return false;
	line += 1 + strspn(line + 1, " \t");
	return strncmp(line, word, strlen(word)) == 0;
}

static enum balance balance_of(const struct tx *t)
{
	const struct file *f = t->x.file;
	int depth = 0;

	for (uint32_t at = text_line_end(f, t->first->begin) + 1; at < t->last->begin; at = text_line_end(f, at) + 1) {
		const char *line = f->text + at;

		if (depth == 0 && (is_directive(line, "el") || is_directive(line, "endif")))
			return BEGINS_INSIDE;
		depth += is_directive(line, "if");
		depth -= is_directive(line, "endif");
	}
	return depth > 0 ? ENDS_INSIDE : BALANCED;
}

static const struct source_node *statement_before(const struct tx *t)
{
	const struct source_node *n = t->block->child;

	while (n && n->next != t->first)
		n = n->next;
	return n;
}

int tx_close_conditions(struct repair *r, struct tx *t, bool *is_changed)
{
	enum balance b;

	while ((b = balance_of(t)) != BALANCED) {
		const struct source_node *n = b == BEGINS_INSIDE ? statement_before(t) : t->last->next;

		if (!n) {
			t->why = text_format(r->code, "line %u is only compiled under a condition, and so would be a part of the transaction",
					     b == BEGINS_INSIDE ? t->first->line : t->last->line);
			return -1;
		}
		*(b == BEGINS_INSIDE ? &t->first : &t->last) = n;
		*is_changed = true;
	}
	return 0;
}
