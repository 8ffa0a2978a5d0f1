/* Reads the objects of a graph when a place in them is first asked about. Blocks are numbered
 * through all objects, and PM-modifying instructions collected: from the code, from runs, and from
 * the source. */
#include "explore/graph/graph_internal.h"

void graph_pm_add(struct graph *g, const struct pm_insn *insn)
{
	if (map_get(&g->by_place, insn->at))
		return;
	*vec_add(&g->pm) = *insn;
	map_set(&g->by_place, insn->at, (void *)(uintptr_t)g->pm.n);
	g->is_stale = true;
}

static void pm_add(struct graph *g, place at, uint32_t block)
{
	graph_pm_add(g, &(struct pm_insn){ .at = at, .block = block });
}

struct object *graph_object(struct graph *g, place p)
{
	size_t n = PLACE_OBJECT(p);
	struct object *o;
	struct error ignored;

	if (n == 0 || n > g->names->paths.n)
		return NULL;
	while (g->objects.n < n)
		*vec_add(&g->objects) = (struct object){ 0 };
	o = &g->objects.at[n - 1];
	if (o->is_read)
		return o->is_left_out ? NULL : o;
	o->is_read = true;
	/* The C library is left out: its own fences and non-temporal copies are reachable from
	 * everywhere, and say nothing about the program. */
	o->is_left_out = objects_is_c_library(g->names->paths.at[n - 1]) ||
			 code_read(&o->code, g->names->paths.at[n - 1], g->cache, &ignored) < 0;
	if (o->is_left_out)
		return NULL;
	o->first = g->nblocks;
	g->nblocks += (uint32_t)o->code.starts.n;
	for (size_t i = 0; i < o->code.pm.n; i++)
		pm_add(g, (uint64_t)n << 48 | o->code.pm.at[i],
		       o->first + code_block(&o->code, o->code.pm.at[i]));
	g->is_stale = true;
	return o;
}

uint32_t graph_block(struct graph *g, place p)
{
	struct object *o = graph_object(g, p);
	uint32_t b = o ? code_block(&o->code, PLACE_ADDRESS(p)) : UINT32_MAX;

	return b == UINT32_MAX ? UINT32_MAX : o->first + b;
}

void graph_jump(struct graph *g, place from, place to)
{
	uint64_t key = (from * 0x9e3779b97f4a7c15ULL ^ to) | 1;

	if (!from || !to || map_get(&g->known_jumps, key))
		return;
	map_set(&g->known_jumps, key, g);
	*vec_add(&g->jumps) = (struct path_jump){ from, to };
	g->is_stale = true;
}

bool graph_is_own(struct graph *g, place p)
{
	return graph_object(g, p) != NULL;
}

bool graph_can_jump(struct graph *g, place from, place to)
{
	struct object *o = graph_object(g, to);
	uint64_t first, end;

	if (!o)
		return false;
	code_function(&o->code, PLACE_ADDRESS(to), &first, &end);
	if (PLACE_ADDRESS(to) == first)
		return true;
	code_function(&o->code, PLACE_ADDRESS(from), &first, &end);
	return PLACE_OBJECT(from) == PLACE_OBJECT(to) && PLACE_ADDRESS(to) >= first &&
	       PLACE_ADDRESS(to) < end;
}

void graph_suspect(struct graph *g, place object, const struct lines_ranges *ranges)
{
	const struct object *o = graph_object(g, object);

	for (size_t i = 0; o && i < ranges->list.n; i++)
		for (size_t k = 0; k < o->code.stores.n; k++) {
			uint64_t at = o->code.stores.at[k];

			if (at >= ranges->list.at[i].from && at < ranges->list.at[i].to)
				pm_add(g, PLACE_OBJECT(object) << 48 | at,
				       o->first + code_block(&o->code, at));
		}
}

void graph_run(struct graph *g, const struct path_block *block)
{
	struct object *o = graph_object(g, block->first);
	uint32_t b = o ? code_block(&o->code, PLACE_ADDRESS(block->first)) : UINT32_MAX;

	for (; b != UINT32_MAX && b < o->code.starts.n &&
	       o->code.starts.at[b] < PLACE_ADDRESS(block->first) + block->nbytes;
	     b++) {
		while (g->was_run.n <= o->first + b)
			*vec_add(&g->was_run) = false;
		if (!g->was_run.at[o->first + b])
			g->is_unrun_stale = g->is_covered_stale = true;
		g->was_run.at[o->first + b] = true;
	}
}
