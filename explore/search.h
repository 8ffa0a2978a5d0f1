/* Which branch to flip next. Each run adds all its branches from the one on that was flipped to get
 * there (generational search); a strategy says which of all that are waiting is the most promising
 * now. */
#ifndef EXPLORE_SEARCH_H
#define EXPLORE_SEARCH_H

#include "explore/graph/graph.h"
#include "explore/path/path.h"
#include "util/map.h"

struct search_flip {
	uint32_t run, step;
	/* its run's number, from 1, if that run got to code that was new then; else 0 */
	uint32_t found;
	uint64_t number; /* in the order of adding */
	/* the path before it, and the way it does not go; the same in every process that explores
	 * the program */
	uint64_t key;
	/* the same for all flips of one branch that are made in the same place; how often it was
	 * tried goes by that */
	uint64_t edge;
};

struct search;

struct search_strategy {
	const char *name, *help;
	/* The higher, the sooner; ties: fewer flips of the same edge so far, then the latest run
	 * that found new code, then the older. */
	uint64_t (*score)(struct search *s, const struct search_flip *flip);
	bool has_texts; /* explore/texts.h: they come first */
	/* which way a branch of a function that modifies PM goes counts, even to code that was run:
	 * it may lead around a flush */
	bool has_ways;
};
/* the first is the default; ends with NULL */
extern const struct search_strategy *const search_strategies[];
const struct search_strategy *search_strategy_find(const char *name);

struct search *search_new(const struct search_strategy *strategy, struct graph *graph,
			  uint64_t seed);
void search_free(struct search *s);

/* A run took this path, which stays the caller's and must live on; steps before `from` are its
 * parent's. Returns the run's number, from 0. */
uint32_t search_add(struct search *s, const struct path *p, size_t from);
/* The best one, which is then gone; false if there is none. */
bool search_next(struct search *s, struct search_flip *flip);
/* there is an input that goes the other way */
void search_made(struct search *s, const struct search_flip *flip);
void search_forget(struct search *s, uint32_t run, uint32_t step); /* it was flipped already */
/* It has more than one other side, and may come again. */
void search_again(struct search *s, const struct search_flip *flip);
/* Whether its edge was guessed less often than that; then it counts as guessed once more. */
bool search_guess(struct search *s, const struct search_flip *flip, unsigned most);
const struct path *search_path(const struct search *s, uint32_t run);
size_t search_waiting(const struct search *s);

/* For search_strategies. */
struct graph *search_graph(const struct search *s);
#define SEARCH_CALLERS 2 /* that tell uses of a function apart */
/* how often its edge was flipped */
uint64_t search_tries(const struct search *s, const struct search_flip *flip);
const struct path_step *search_step(const struct search *s, const struct search_flip *flip);
bool search_is_covered(const struct search *s, place block);
/* no run went that way, in a function that modifies PM; the strategy cares */
bool search_is_new_way(const struct search *s, const struct path_step *step);
uint64_t search_random(struct search *s);
size_t search_ncovered(const struct search *s);

#endif
