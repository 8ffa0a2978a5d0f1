/* The search_strategies of a search, one row each. */
#include <string.h>

#include "explore/search.h"

#define FRAMES_MAX 64
#define AHEAD_WEIGHT 4

/* PM-modifying instructions that no run has executed yet and that the other side can reach, itself or after returning to its callers. The latter are
 * the same for all branches of a library function, so those ahead weigh more; and each flip of the same edge makes the next one less promising, so that
 * a loop in sight of PM does not starve the function that parses for it. New code decides between equals. */
static uint64_t pm_score(struct search *s, const struct path *p, const struct path_step *step)
{
	const struct path_stack *stack = step->stack < p->stacks.n ? &p->stacks.at[step->stack] : NULL;
	place from[FRAMES_MAX + 1] = { step->kind == PATH_JUMP ? step->pc : step->other };
	size_t n = stack ? stack->n : 0;
	uint64_t ahead, all;

	if (n > FRAMES_MAX)
		n = FRAMES_MAX;
	if (n)
		memcpy(from + 1, p->returns.at + stack->first, n * sizeof from[0]);
	ahead = graph_reach(search_graph(s), from, 1);
	all = graph_reach(search_graph(s), from, n + 1);
	return (AHEAD_WEIGHT * ahead + all) * 16 / (1 + search_tries(s, step)) << 1 | !search_is_covered(s, step->other);
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
