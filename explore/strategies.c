/* The search_strategies of a search, one row each. */
#include <string.h>

#include "explore/search.h"

/* PM-modifying instructions that the other side can reach, itself or after returning to its callers, and that no run has executed yet. */
static uint64_t pm_score(struct search *s, const struct path *p, const struct path_step *step)
{
	const struct path_stack *stack = step->stack < p->stacks.n ? &p->stacks.at[step->stack] : NULL;
	place other = step->kind == PATH_JUMP ? step->pc : step->other;
	uint64_t near = graph_reach(search_graph(s), &other, 1);
	uint64_t far = stack ? graph_reach(search_graph(s), p->returns.at + stack->first, stack->n) : 0;

	/* what lies ahead counts; what the callers do anyway only decides between equals, as does new code */
	return near << 24 | (far > 0xffff ? 0xffff : far) << 8 | !search_is_covered(s, step->other);
}

static const struct search_strategy pm = {
	.name = "pm",
	.help = "towards code that changes persistent memory and was not run yet",
	.score = pm_score,
};

static uint64_t coverage_score(struct search *s, const struct path *p, const struct path_step *step)
{
	(void)p;
	return !search_is_covered(s, step->other);
}

static const struct search_strategy coverage = {
	.name = "coverage",
	.help = "towards any code that was not run yet",
	.score = coverage_score,
};

static uint64_t bfs_score(struct search *s, const struct path *p, const struct path_step *step)
{
	(void)s, (void)p, (void)step;
	return 0;
}

static const struct search_strategy bfs = {
	.name = "bfs",
	.help = "in the order in which branches were seen",
	.score = bfs_score,
};

static uint64_t random_score(struct search *s, const struct path *p, const struct path_step *step)
{
	(void)p, (void)step;
	return search_random(s);
}

static const struct search_strategy by_chance = {
	.name = "random",
	.help = "by chance",
	.score = random_score,
};

const struct search_strategy *const search_strategies[] = { &pm, &coverage, &bfs, &by_chance, NULL };

const struct search_strategy *search_strategy_find(const char *name)
{
	for (size_t i = 0; search_strategies[i]; i++)
		if (strcmp(search_strategies[i]->name, name) == 0)
			return search_strategies[i];
	return NULL;
}
