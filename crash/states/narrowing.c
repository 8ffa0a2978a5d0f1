/* Stores chains of narrowings; the last one is the head. The contents left of a line only shrink
 * along a chain, so a chain can be applied in any order. */
#include "crash/states/narrowing.h"

static struct narrowing *narrowing_use(struct narrowing *n)
{
	if (n)
		n->uses++;
	return n;
}

struct narrowing *narrowing_new(const struct state_set *s, struct narrowing *before, size_t line)
{
	struct narrowing *n = xcalloc(1, sizeof *n + s->lines.at[line].words * sizeof n->left[0]);

	n->before = narrowing_use(before);
	n->uses = 1;
	n->line = line;
	return n;
}

void narrowing_drop(struct narrowing *n)
{
	/* a loop, not a recursion: a chain is as long as a run has decisions */
	while (n && --n->uses == 0) {
		struct narrowing *before = n->before;

		free(n);
		n = before;
	}
}

void narrowing_apply(const struct state_set *s, const struct narrowing *n, uint64_t *set)
{
	for (; n; n = n->before) {
		const struct state_line *l = &s->lines.at[n->line];

		for (uint32_t w = 0; w < l->words; w++)
			set[l->set + w] &= n->left[w];
	}
}
