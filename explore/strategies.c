/* The search_strategies of a search, one row each. */
#include <string.h>

#include "explore/search.h"

#define FRAMES_MAX 64
#define ONLY_WEIGHT 64
#define SCALE 4096
#define TRIES_MAX 40             /* nothing is left of a score then */
#define NEAR_SCORE (SCALE / 4)   /* as much as an instruction that is three blocks away */
#define UNRUN_SCORE (16 * SCALE) /* less than the nearest instruction that only one side reaches */
#define UNTAKEN_SCORE (UNRUN_SCORE / 4) /* as code that is a block away */
#define UNRUN_BLOCKS 10                 /* more are as far as these */

/* The shortest way to such an instruction from any of the places: of a branch inside a library
 * function, that from where it was called. */
static uint32_t shortest(struct graph *g, const place *from, size_t n)
{
	uint32_t best = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		uint32_t d = graph_distance(g, from[i]);

		if (d < best)
			best = d;
	}
	return best;
}

/* In a function that modifies PM, or called from one. */
static bool is_near(struct graph *g, place pc, const place *callers, size_t n)
{
	bool is = graph_is_near(g, pc);

	for (size_t i = 0; !is && i < n && i < SEARCH_CALLERS; i++)
		is = graph_is_near(g, callers[i]);
	return is;
}

/* On the way to code that no run has been to, in a function that modifies PM: the closer, the
 * better by far. Flips of the same edge share, and are not halved: there may be many ways that look
 * alike. Of a library function nothing is known. */
static uint64_t unrun_score(struct graph *g, place from, uint64_t tries)
{
	uint32_t d = graph_distance_unrun(g, from);

	return d == UINT32_MAX
		       ? 0
		       : (UNRUN_SCORE >> 2 * (d < UNRUN_BLOCKS ? d : UNRUN_BLOCKS)) / (1 + tries);
}

/* PM-modifying instructions that no run has executed yet and that the other side can reach, itself
 * or after returning to its callers. Those that this side cannot reach weigh most, because only for
 * them the branch has to go the other way. The shorter the way, the better. Being in a function
 * that is known to modify PM counts, too: a store that forgot its flush is not known before it is
 * run; and where nothing that is known can be reached, code that was not run. Each flip of the same
 * edge makes the next one half as promising, so that a loop in sight of PM does not starve the
 * function that parses for it. New code decides between equals. */
static uint64_t pm_score(struct search *s, const struct search_flip *flip)
{
	const struct path *p = search_path(s, flip->run);
	const struct path_step *step = search_step(s, flip);
	const struct path_stack *stack =
		step->stack < p->stacks.n ? &p->stacks.at[step->stack] : NULL;
	place from[FRAMES_MAX + 1] = { step->kind == PATH_JUMP ? step->pc : step->other };
	struct graph *g = search_graph(s);
	size_t n = stack ? stack->n : 0;
	uint64_t score, unknown, tries = search_tries(s, flip);

	if (n > FRAMES_MAX)
		n = FRAMES_MAX;
	if (n)
		memcpy(from + 1, p->returns.at + stack->first, n * sizeof from[0]);
	score = graph_reach(g, from, n + 1);
	if (step->kind == PATH_BRANCH || step->kind == PATH_TARGET)
		score += ONLY_WEIGHT * graph_reach_only(g, step->other, step->went);
	if (score)
		score = score * SCALE / (1 + (uint64_t)shortest(g, from, n + 1));
	unknown = score ? 0 : unrun_score(g, from[0], tries);
	if (search_is_new_way(s, step))
		unknown += UNTAKEN_SCORE / (1 + tries);
	if (is_near(g, step->pc, from + 1, n))
		score += NEAR_SCORE;
	return ((score >> (tries < TRIES_MAX ? tries : TRIES_MAX)) + unknown) << 1 |
	       !search_is_covered(s, step->other);
}

static const struct search_strategy pm = {
	.name = "pm",
	.help = "towards code that changes persistent memory and was not run yet",
	.score = pm_score,
	.has_texts = true,
	.has_ways = true,
};

static uint64_t coverage_score(struct search *s, const struct search_flip *flip)
{
	return !search_is_covered(s, search_step(s, flip)->other);
}

static const struct search_strategy coverage = {
	.name = "coverage",
	.help = "towards any code that was not run yet",
	.score = coverage_score,
};

static uint64_t bfs_score(struct search *s, const struct search_flip *flip)
{
	(void)s, (void)flip;
	return 0;
}

static const struct search_strategy bfs = {
	.name = "bfs",
	.help = "in the order in which branches were seen",
	.score = bfs_score,
};

static uint64_t random_score(struct search *s, const struct search_flip *flip)
{
	(void)flip;
	return search_random(s);
}

static const struct search_strategy by_chance = {
	.name = "random",
	.help = "by chance",
	.score = random_score,
};

const struct search_strategy *const search_strategies[] = { &pm, &coverage, &bfs, &by_chance,
							    NULL };

const struct search_strategy *search_strategy_find(const char *name)
{
	for (size_t i = 0; search_strategies[i]; i++)
		if (strcmp(search_strategies[i]->name, name) == 0)
			return search_strategies[i];
	return NULL;
}
