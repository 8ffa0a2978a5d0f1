/* Keeps the branches that wait to be flipped, and counts how often each edge was tried. A flip is
 * identified by a hash of the path before it and of the other side, so it is never added twice. */
#include "explore/search.h"

#include <stdlib.h>
#include <string.h>

struct search {
	const struct search_strategy *strategy;
	struct graph *graph;
	VEC(const struct path *) paths;
	VEC(struct search_flip) waiting;
	struct map covered; /* blocks that were run */
	struct map taken;   /* sides that branches took */
	struct map edges;   /* edge → TRY * tries + questions without an answer */
	struct map tried;   /* keys of flips */
	struct map guessed; /* edge → number of guesses */
	uint64_t random, nadded;
};

struct search *search_new(const struct search_strategy *strategy, struct graph *graph,
			  uint64_t seed)
{
	struct search *s = xcalloc(1, sizeof *s);

	s->strategy = strategy;
	s->graph = graph;
	s->random = seed * 2 + 1;
	return s;
}

void search_free(struct search *s)
{
	vec_release(&s->paths);
	vec_release(&s->waiting);
	map_release(&s->covered);
	map_release(&s->taken);
	map_release(&s->edges);
	map_release(&s->tried);
	map_release(&s->guessed);
	free(s);
}

struct graph *search_graph(const struct search *s)
{
	return s->graph;
}

const struct path *search_path(const struct search *s, uint32_t run)
{
	return s->paths.at[run];
}

const struct path_step *search_step(const struct search *s, const struct search_flip *flip)
{
	return &s->paths.at[flip->run]->steps.at[flip->step];
}

size_t search_waiting(const struct search *s)
{
	return s->waiting.n;
}

bool search_is_covered(const struct search *s, place block)
{
	return map_get(&s->covered, block) != NULL;
}

size_t search_ncovered(const struct search *s)
{
	return s->covered.n;
}

uint64_t search_random(struct search *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random * 0x2545f4914f6cdd1dULL >> 16;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static uint64_t way_key(place pc, place to)
{
	return mix(mix(2, pc), to) | 1;
}

bool search_is_new_way(const struct search *s, const struct path_step *step)
{
	return step->kind == PATH_BRANCH && s->strategy->has_ways &&
	       !map_get(&s->taken, way_key(step->pc, step->other)) &&
	       graph_is_near(s->graph, step->pc);
}

/* Makes the key of an edge: the branch, the side that it did not take, and the places from which
 * its function was called, because strcmp() and the like have many callers. */
static uint64_t edge_key(const struct path *p, const struct path_step *s)
{
	const struct path_stack *stack = s->stack < p->stacks.n ? &p->stacks.at[s->stack] : NULL;
	uint64_t e = mix(mix(1, s->pc), s->kind == PATH_TOKEN ? s->value : s->other);

	/* parts of the input such as arguments go through the same code; so do the bytes of a set
	 * that a library function searches */
	if (s->part)
		e = mix(mix(e, s->part), s->wanted);
	for (size_t i = 0; stack && i < stack->n && i < SEARCH_CALLERS; i++)
		e = mix(e, p->returns.at[stack->first + i]);
	return e;
}

#define TRY 8 /* an input that was run weighs as much as 8 questions without an answer */

static uint64_t edge_count(const struct search *s, uint64_t e)
{
	return (uint64_t)(uintptr_t)map_get(&s->edges, e);
}

uint64_t search_tries(const struct search *s, const struct search_flip *flip)
{
	return edge_count(s, flip->edge) / TRY;
}

static void edge_add(struct search *s, const struct search_flip *f, uint64_t n)
{
	map_set(&s->edges, f->edge, (void *)(uintptr_t)(edge_count(s, f->edge) + n));
}

void search_made(struct search *s, const struct search_flip *flip)
{
	edge_add(s, flip, TRY - 1);
}

/* Adds the path of a run. Code before the first condition is the loader's and may differ between
 * runs, so it does not count as code that the input found. */
uint32_t search_add(struct search *s, const struct path *p, size_t from)
{
	uint32_t run = (uint32_t)s->paths.n;
	uint64_t prefix = 0;
	size_t nstart = s->covered.n;

	*vec_add(&s->paths) = p;
	for (size_t i = 0; i < p->covered.n; i++) {
		map_set(&s->covered, p->covered.at[i].first, s);
		graph_run(s->graph, &p->covered.at[i]);
		if (i < p->nstart)
			nstart = s->covered.n;
	}
	for (size_t i = 0; i < p->jumps.n; i++)
		graph_jump(s->graph, p->jumps.at[i].from, p->jumps.at[i].to);
	for (size_t i = 0; i < p->steps.n; i++) {
		const struct path_step *step = &p->steps.at[i];
		uint64_t at = mix(mix(prefix, graph_key(s->graph, step->pc)), (uint64_t)step->kind);
		uint64_t flipped =
			mix(at, step->kind == PATH_TOKEN ? step->value
							 : graph_key(s->graph, step->other)) |
			1;

		if (step->kind == PATH_BRANCH)
			map_set(&s->taken, way_key(step->pc, step->went), s);
		if (step->kind != PATH_TOKEN && step->kind != PATH_TARGET)
			prefix = mix(at, step->kind == PATH_BRANCH ? graph_key(s->graph, step->went)
								   : step->value);
		if (step->kind == PATH_PIN || i < from || map_get(&s->tried, flipped))
			continue;
		if (step->kind == PATH_TARGET && !graph_can_jump(s->graph, step->pc, step->other))
			continue;
		map_set(&s->tried, flipped, s);
		*vec_add(&s->waiting) =
			(struct search_flip){ .run = run,
					      .step = (uint32_t)i,
					      .found = s->covered.n > nstart ? run + 1 : 0,
					      .number = s->nadded++,
					      .key = flipped,
					      .edge = edge_key(p, step) };
	}
	return run;
}

void search_again(struct search *s, const struct search_flip *flip)
{
	*vec_add(&s->waiting) = *flip;
	s->waiting.at[s->waiting.n - 1].number = s->nadded++;
}

bool search_guess(struct search *s, const struct search_flip *flip, unsigned most)
{
	uint64_t n = (uint64_t)(uintptr_t)map_get(&s->guessed, flip->edge);

	if (n >= most)
		return false;
	map_set(&s->guessed, flip->edge, (void *)(uintptr_t)(n + 1));
	return true;
}

/* Gives the score of a flip. Flipping an address has the lowest score, because nobody knows where
 * another address leads. */
static uint64_t score_of(struct search *s, const struct search_flip *f)
{
	return search_step(s, f)->kind == PATH_ADDRESS ? 0 : s->strategy->score(s, f) + 1;
}

/* Removes the flip from the list; it counts as tried. */
static void take_out(struct search *s, size_t i)
{
	const struct search_flip f = s->waiting.at[i];

	s->waiting.at[i] = s->waiting.at[--s->waiting.n];
	edge_add(s, &f, 1);
}

/* Removes the flips of a step that was flipped before. Flips of jumps and addresses stay, because
 * these steps have more than two outcomes. */
void search_forget(struct search *s, uint32_t run, uint32_t step)
{
	for (size_t i = 0; i < s->waiting.n; i++)
		if (s->waiting.at[i].run == run && s->waiting.at[i].step == step) {
			if (s->paths.at[run]->steps.at[step].kind != PATH_JUMP &&
			    s->paths.at[run]->steps.at[step].kind != PATH_ADDRESS) {
				search_made(s, &s->waiting.at[i]);
				take_out(s, i);
			}
			return;
		}
}

/* Orders flips of equal score: first edges that were tried least, so that a long loop does not
 * delay the rest; then flips of the latest run that reached new code; then the oldest. */
static bool is_before(const struct search *s, const struct search_flip *a,
		      const struct search_flip *b)
{
	uint64_t x = search_tries(s, a), y = search_tries(s, b);

	return x != y ? x < y : a->found != b->found ? a->found > b->found : a->number < b->number;
}

bool search_next(struct search *s, struct search_flip *flip)
{
	uint64_t best_score = 0;
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < s->waiting.n; i++) {
		uint64_t score = score_of(s, &s->waiting.at[i]);

		if (best != SIZE_MAX && (score < best_score ||
					 (score == best_score &&
					  !is_before(s, &s->waiting.at[i], &s->waiting.at[best]))))
			continue;
		best = i;
		best_score = score;
	}
	if (best == SIZE_MAX)
		return false;
	*flip = s->waiting.at[best];
	take_out(s, best);
	return true;
}
