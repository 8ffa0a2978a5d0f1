/* Defines the search strategies, one row each. A strategy is a score; the flip with the highest
 * score is next. */
#include <string.h>

#include "explore/search.h"

#define FRAMES_MAX 64
#define ONLY_WEIGHT 64
#define SCALE 4096
#define TRIES_MAX 40           /* after so many tries, a score is 0 */
#define NEAR_SCORE (SCALE / 4) /* like an instruction three blocks away */
/* less than the nearest instruction that only the other side reaches */
#define UNRUN_SCORE (16 * SCALE)
#define UNTAKEN_SCORE (UNRUN_SCORE / 4) /* like code one block away */
#define UNRUN_BLOCKS 10                 /* code further away counts like this */

/* Counts the blocks on the shortest way from any of the places to an uncovered PM-modifying
 * instruction. The places of a branch in a library function are those of its callers. */
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

/* Is the branch in a function that modifies PM, or called from one? */
static bool is_near(struct graph *g, place pc, const place *callers, size_t n)
{
	bool is = graph_is_near(g, pc);

	for (size_t i = 0; !is && i < n && i < SEARCH_CALLERS; i++)
		is = graph_is_near(g, callers[i]);
	return is;
}

/* Scores code that no run has reached, in a function that modifies PM: each block closer counts
 * four times as much. Tries of the same edge share the score instead of halving it, because many
 * different ways may look like one edge. Library functions score 0. */
static uint64_t unrun_score(struct graph *g, place from, uint64_t tries)
{
	uint32_t d = graph_distance_unrun(g, from);

	return d == UINT32_MAX
		       ? 0
		       : (UNRUN_SCORE >> 2 * (d < UNRUN_BLOCKS ? d : UNRUN_BLOCKS)) / (1 + tries);
}

/* Scores by uncovered PM-modifying instructions that the other side can reach, directly or after
 * returning to callers, divided by the distance. Those that the taken side cannot reach weigh 64
 * times as much, because only they need this branch to go the other way.
 *
 * Being in a function known to modify PM adds a little, because a store that lacks its flush is
 * unknown until it is run. If no known instruction is reachable, code that was not run counts. Each
 * try of the same edge halves the score, so that a loop in sight of PM does not starve the function
 * that parses for it. New code decides between equal scores. */
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
