/* Computes how many blocks lie between a place and the next PM-modifying instruction, or the next
 * code that no run reached: a breadth-first search from there, backwards along the edges. */
#include <stdlib.h>

#include "explore/graph/graph_internal.h"

/* Fills the list of edges in reverse direction. */
void graph_back_fill(struct graph *g, const edges *all)
{
	uint32_t i = 0;

	g->back.n = g->back_first.n = 0;
	for (size_t k = 0; k < all->n; k++)
		*vec_add(&g->back) = (struct edge){ all->at[k].to, all->at[k].from };
	if (g->back.n)
		qsort(g->back.at, g->back.n, sizeof g->back.at[0], graph_edges_compare);
	for (uint32_t b = 0; b <= g->nblocks; b++) {
		while (i < g->back.n && g->back.at[i].from < b)
			i++;
		*vec_add(&g->back_first) = i;
	}
}

static void distance_set(struct graph *g, distances *d, uint32_t block, uint32_t distance)
{
	if (d->at[block] != UINT32_MAX)
		return;
	d->at[block] = distance;
	*vec_add(&g->queue) = block;
}

static void distances_clear(struct graph *g, distances *d)
{
	d->n = g->queue.n = 0;
	for (uint32_t b = 0; b < g->nblocks; b++)
		*vec_add(d) = UINT32_MAX;
}

/* Searches backwards, breadth first, from the blocks in the queue. */
static void distances_spread(struct graph *g, distances *d)
{
	for (size_t q = 0; q < g->queue.n; q++) {
		uint32_t block = g->queue.at[q];

		for (uint32_t e = g->back_first.at[block]; e < g->back_first.at[block + 1]; e++)
			distance_set(g, d, g->back.at[e].to, d->at[block] + 1);
	}
}

void graph_distances_find(struct graph *g, distances *d, bool is_any)
{
	distances_clear(g, d);
	for (size_t i = 0; i < g->pm.n; i++)
		if (is_any || !graph_is_covered(g, &g->pm.at[i]))
			distance_set(g, d, g->pm.at[i].block, 0);
	distances_spread(g, d);
}

#define NEAR_BLOCKS 2 /* so that a call of a function that flushes counts */

bool graph_blocks_are_near(const struct graph *g, const struct object *o, uint32_t first,
			   uint64_t to)
{
	for (uint32_t b = first; b < o->code.starts.n && o->code.starts.at[b] < to; b++)
		if (g->to_any.at[o->first + b] <= NEAR_BLOCKS)
			return true;
	return false;
}

/* Finds blocks that only lead out of the object: they are not the program's own code. */
static void stubs_set(const struct object *o, bool *is_stub)
{
	for (size_t i = 0; i < o->code.edges.n; i++)
		is_stub[o->code.edges.at[i].from] |= o->code.edges.at[i].name != 0;
	for (size_t i = 0; i < o->code.edges.n; i++)
		if (o->code.edges.at[i].name == 0)
			is_stub[o->code.edges.at[i].from] = false;
}

static void unrun_add(struct graph *g, const struct object *o)
{
	size_t n = o->code.starts.n;
	bool *is_stub = xcalloc(n + 1, sizeof *is_stub);

	stubs_set(o, is_stub);
	for (uint32_t b = 0, end; b < n; b = end) {
		uint64_t from, to;
		bool near;

		code_function(&o->code, o->code.starts.at[b], &from, &to);
		near = graph_blocks_are_near(g, o, b, to);
		for (end = b; end < n && (end == b || o->code.starts.at[end] < to); end++)
			if (near && !is_stub[end] &&
			    (o->first + end >= g->was_run.n || !g->was_run.at[o->first + end]))
				distance_set(g, &g->to_unrun, o->first + end, 0);
	}
	free(is_stub);
}

void graph_unrun_find(struct graph *g)
{
	distances_clear(g, &g->to_unrun);
	for (size_t i = 0; i < g->objects.n; i++)
		if (!g->objects.at[i].is_left_out)
			unrun_add(g, &g->objects.at[i]);
	distances_spread(g, &g->to_unrun);
	g->is_unrun_stale = false;
}
