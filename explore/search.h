/* Chooses the branch to flip next. Each run adds its branches after the one that was flipped to get
 * there (generational search); a strategy scores all that are waiting. */
#ifndef EXPLORE_SEARCH_H
#define EXPLORE_SEARCH_H

#include "explore/graph/graph.h"
#include "explore/path/path.h"
#include "util/map.h"

struct search_flip {
	uint32_t run, step;
	/* the number of its run, from 1, if that run reached new code; else 0 */
	uint32_t found;
	uint64_t number; /* counts flips in the order of adding */
	/* identifies the path before it and the other side; equal in all processes that explore the
	 * program */
	uint64_t key;
	/* identifies the branch, its other side and its callers; tries are counted per edge */
	uint64_t edge;
};

struct search;

struct search_strategy {
	const char *name, *help;
	/* The flip with the highest score comes first. Ties: fewer tries of the edge, then the
	 * latest run that found new code, then the oldest flip. */
	uint64_t (*score)(struct search *s, const struct search_flip *flip);
	bool has_texts; /* begins with texts (explore/start_texts.h) */
	/* also prefers sides that a branch has not taken, in functions that modify PM, because they
	 * may lead around a flush */
	bool has_ways;
};
/* The first is the default; ends with NULL. */
extern const struct search_strategy *const search_strategies[];
const struct search_strategy *search_strategy_find(const char *name);

struct search *search_new(const struct search_strategy *strategy, struct graph *graph,
			  uint64_t seed);
void search_free(struct search *s);

/* Adds the flips of a run's path, which must stay valid. Steps before `from` are left out: they
 * were added with the run's parent. Gives the run's number, from 0. */
uint32_t search_add(struct search *s, const struct path *p, size_t from);
/* Removes the best flip from those that wait, and gives it. False if there is none. */
bool search_next(struct search *s, struct search_flip *flip);
/* Says that an input was found for the flip. */
void search_made(struct search *s, const struct search_flip *flip);
/* Says that an earlier start of the exploration has flipped this step. */
void search_forget(struct search *s, uint32_t run, uint32_t step);
/* Adds a flip again, because its step has further outcomes. */
void search_again(struct search *s, const struct search_flip *flip);
/* Asks whether the flip's edge may be guessed again (fewer than `most` guesses so far), and counts
 * the guess. */
bool search_guess(struct search *s, const struct search_flip *flip, unsigned most);
const struct path *search_path(const struct search *s, uint32_t run);
size_t search_waiting(const struct search *s);

/* Gives the graph, for strategies. They also use the functions below. */
struct graph *search_graph(const struct search *s);
#define SEARCH_CALLERS 2 /* so many callers tell uses of a function apart */
/* Counts how often the flip's edge was tried. */
uint64_t search_tries(const struct search *s, const struct search_flip *flip);
const struct path_step *search_step(const struct search *s, const struct search_flip *flip);
bool search_is_covered(const struct search *s, place block);
/* Asks whether no run has taken the other side of this branch, and the branch is in a function that
 * modifies PM. Always false if the strategy does not prefer such sides (has_ways). */
bool search_is_new_way(const struct search *s, const struct path_step *step);
uint64_t search_random(struct search *s);
size_t search_ncovered(const struct search *s);

#endif
