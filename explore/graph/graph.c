/* Answers questions about a place in the control flow graph. Sets and distances are computed again
 * when something new was learned and a question needs them. */
#include <stdlib.h>
#include <string.h>

#include "explore/graph/graph_internal.h"

struct graph *graph_new(struct objects *objects, const char *cache)
{
	struct graph *g = xcalloc(1, sizeof *g);

	g->names = objects;
	g->cache = cache ? xstrdup(cache) : NULL;
	g->is_stale = true; /* nothing was computed yet */
	return g;
}

uint64_t graph_key(const struct graph *g, place p)
{
	return objects_key(g->names, p);
}

void graph_free(struct graph *g)
{
	for (size_t i = 0; i < g->objects.n; i++)
		code_release(&g->objects.at[i].code);
	vec_release(&g->objects);
	vec_release(&g->jumps);
	map_release(&g->known_jumps);
	vec_release(&g->pm);
	map_release(&g->by_place);
	map_release(&g->modifiers);
	vec_release(&g->set_of);
	vec_release(&g->sets);
	vec_release(&g->uncovered);
	vec_release(&g->scratch);
	vec_release(&g->back);
	vec_release(&g->back_first);
	vec_release(&g->to_new);
	vec_release(&g->to_any);
	vec_release(&g->to_unrun);
	vec_release(&g->was_run);
	vec_release(&g->queue);
	free(g->cache);
	free(g);
}

/* ---- questions ---- */

static void recompute_all(struct graph *g)
{
	edges all = { 0 };

	graph_edges_gather(g, &all); /* first, because it may read objects */
	graph_calls_find(g);
	graph_sets_find(g, &all);
	graph_back_fill(g, &all);
	graph_distances_find(g, &g->to_any, true);
	g->is_covered_stale = g->is_unrun_stale = true;
	vec_release(&all);
	g->is_stale = false;
}

static void uncovered_find(struct graph *g)
{
	vec_reserve(&g->uncovered, g->nwords);
	vec_reserve(&g->scratch, g->nwords);
	memset(g->uncovered.at, 0, g->nwords * sizeof g->uncovered.at[0]);
	for (size_t i = 0; i < g->pm.n; i++)
		if (!graph_is_covered(g, &g->pm.at[i]))
			g->uncovered.at[i / 64] |= 1ULL << i % 64;
	g->is_covered_stale = false;
	g->is_distance_stale = true;
}

/* Brings the graph up to date for a question about these places. */
static void bring_up_to_date(struct graph *g, const place *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		graph_object(g, from[i]); /* reads the object if it is new */
	if (g->is_stale)
		recompute_all(g);
	if (g->is_covered_stale)
		uncovered_find(g);
}

/* Adds what a place reaches to g->scratch, or removes it from there. */
static void scratch_change(struct graph *g, place from, bool adds)
{
	uint32_t block = graph_block(g, from);
	const uint64_t *set =
		block == UINT32_MAX ? NULL : g->sets.at + g->set_of.at[block] * g->nwords;

	for (size_t w = 0; set && w < g->nwords; w++)
		g->scratch.at[w] = adds ? g->scratch.at[w] | set[w] : g->scratch.at[w] & ~set[w];
}

static uint64_t scratch_count(const struct graph *g)
{
	uint64_t count = 0;

	for (size_t w = 0; w < g->nwords; w++)
		count += (uint64_t)__builtin_popcountll(g->scratch.at[w] & g->uncovered.at[w]);
	return count;
}

uint64_t graph_reach(struct graph *g, const place *from, size_t n)
{
	bring_up_to_date(g, from, n);
	memset(g->scratch.at, 0, g->nwords * sizeof g->scratch.at[0]);
	for (size_t i = 0; i < n; i++)
		scratch_change(g, from[i], true);
	return scratch_count(g);
}

uint64_t graph_reach_only(struct graph *g, place from, place without)
{
	bring_up_to_date(g, (const place[]){ from, without }, 2);
	memset(g->scratch.at, 0, g->nwords * sizeof g->scratch.at[0]);
	scratch_change(g, from, true);
	scratch_change(g, without, false);
	return scratch_count(g);
}

uint32_t graph_distance(struct graph *g, place from)
{
	uint32_t block;

	bring_up_to_date(g, &from, 1);
	if (g->is_distance_stale)
		graph_distances_find(g, &g->to_new, false);
	g->is_distance_stale = false;
	block = graph_block(g, from);
	return block == UINT32_MAX ? UINT32_MAX : g->to_new.at[block];
}

bool graph_is_near(struct graph *g, place p)
{
	const struct object *o;
	uint64_t from, to;
	uint32_t first;

	bring_up_to_date(g, &p, 1);
	o = graph_object(g, p);
	if (!o)
		return false;
	code_function(&o->code, PLACE_ADDRESS(p), &from, &to);
	first = code_block(&o->code, from);
	return graph_blocks_are_near(g, o, first == UINT32_MAX ? 0 : first, to);
}

uint32_t graph_distance_unrun(struct graph *g, place from)
{
	uint32_t block;

	bring_up_to_date(g, &from, 1);
	if (g->is_unrun_stale)
		graph_unrun_find(g);
	block = graph_block(g, from);
	return block == UINT32_MAX ? UINT32_MAX : g->to_unrun.at[block];
}
