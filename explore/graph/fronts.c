/* Where runs ended so far: blocks that were run, and from which another follows that never was. Of those that lead on to persistent memory, only the user's code counts: what a
 * library has not run yet is everywhere. */
#include <stdlib.h>
#include <string.h>

#include "explore/graph/graph_internal.h"

static bool was_run(const struct graph *g, uint32_t block)
{
	return block < g->was_run.n && g->was_run.at[block];
}

static const uint64_t *set_of(const struct graph *g, uint32_t block)
{
	return g->sets.at + g->set_of.at[block] * g->nwords;
}

/* What one block reaches, and the run ones among those that follow the same do not. */
static uint64_t only_count(const struct graph *g, uint32_t to, const struct edge *out, size_t n)
{
	uint64_t count = 0;

	for (size_t w = 0; w < g->nwords; w++) {
		uint64_t bits = set_of(g, to)[w] & g->uncovered.at[w];

		for (size_t i = 0; i < n; i++)
			if (was_run(g, out[i].to))
				bits &= ~set_of(g, out[i].to)[w];
		count += (uint64_t)__builtin_popcountll(bits);
	}
	return count;
}

static void front_add(struct graph *g, const struct edge *out, size_t n, bool is_near)
{
	struct graph_front best = { .block = out[0].from, .distance = UINT32_MAX };
	bool has_run = false, found = false;

	for (size_t i = 0; i < n; i++)
		has_run |= was_run(g, out[i].to);
	for (size_t i = 0; has_run && i < n; i++) {
		uint64_t only = was_run(g, out[i].to) ? 0 : only_count(g, out[i].to, out, n);

		if (was_run(g, out[i].to) || (!only && !is_near) || (found && only <= best.only))
			continue;
		best.only = only;
		best.distance = g->to_new.at[out[i].to];
		found = true;
	}
	if (!found)
		return;
	*vec_add(&g->fronts) = best;
	map_set(&g->front_of, (uint64_t)best.block + 1, (void *)(uintptr_t)g->fronts.n);
}

static void object_fronts(struct graph *g, const struct object *o, size_t *at)
{
	while (*at < g->forward.n && g->forward.at[*at].from < o->first)
		++*at;
	while (*at < g->forward.n && g->forward.at[*at].from < o->first + o->code.starts.n) {
		const struct edge *out = g->forward.at + *at;
		uint64_t from, to;
		uint32_t first;
		size_t n = 1;

		while (*at + n < g->forward.n && out[n].from == out[0].from)
			n++;
		*at += n;
		if (n < 2 || !was_run(g, out[0].from))
			continue;
		code_function(&o->code, o->code.starts.at[out[0].from - o->first], &from, &to);
		first = code_block(&o->code, from);
		front_add(g, out, n, graph_blocks_are_near(g, o, first == UINT32_MAX ? 0 : first, to));
	}
}

void graph_fronts_find(struct graph *g)
{
	g->fronts.n = 0;
	map_release(&g->front_of);
	for (size_t n = 1; n <= g->objects.n; n++) {
		size_t at = 0;

		if (!g->objects.at[n - 1].is_left_out && g->objects.at[n - 1].is_read && !objects_is_library(g->names->paths.at[n - 1]))
			object_fronts(g, &g->objects.at[n - 1], &at);
	}
}
