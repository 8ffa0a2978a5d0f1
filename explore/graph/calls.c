/* Counts calls of PM-modifying functions as PM-modifying instructions, each call by itself, because
 * most programs flush in one function and copy with the C library. If some call of a library
 * function modified PM, every other call of it may do so. */
#include "explore/graph/graph_internal.h"

static bool was_run(const struct graph *g, uint32_t block)
{
	return block < g->was_run.n && g->was_run.at[block];
}

bool graph_is_covered(const struct graph *g, const struct pm_insn *insn)
{
	return insn->is_covered || (insn->is_call && was_run(g, insn->block));
}

/* Collects the functions, by place, that contain a PM-modifying instruction. */
static void functions_gather(struct graph *g, struct map *functions)
{
	for (size_t i = 0; i < g->pm.n; i++) {
		place at = g->pm.at[i].at;
		const struct object *o = graph_object(g, at);
		uint64_t from, to;

		if (!o || g->pm.at[i].is_call)
			continue;
		code_function(&o->code, PLACE_ADDRESS(at), &from, &to);
		map_set(functions, PLACE_OBJECT(at) << 48 | from, g);
	}
}

void graph_calls_find(struct graph *g)
{
	struct map functions = { 0 };

	functions_gather(g, &functions);
	for (size_t n = 1; n <= g->objects.n; n++) {
		const struct object *o = &g->objects.at[n - 1];

		if (o->is_left_out || objects_is_library(g->names->paths.at[n - 1]))
			continue;
		for (size_t i = 0; i < o->code.calls.n; i++) {
			const struct code_call *c = &o->code.calls.at[i];
			struct pm_insn insn = { .at = (uint64_t)n << 48 | (c->next - 1),
						.block = o->first + c->block,
						.is_call = true };

			insn.is_maybe =
				c->name &&
				map_get(&g->modifiers, graph_name_hash(o->code.names.at + c->name));
			if (insn.is_maybe ||
			    (c->to && map_get(&functions, (uint64_t)n << 48 | c->to)))
				graph_pm_add(g, &insn);
		}
	}
	map_release(&functions);
}

static bool call_cover(struct graph *g, place at)
{
	const struct object *o = graph_object(g, at);
	const struct code_call *found = NULL;
	size_t i;

	for (i = 0; o && !found && i < o->code.calls.n; i++)
		if (o->code.calls.at[i].next - 1 == PLACE_ADDRESS(at))
			found = &o->code.calls.at[i];
	if (!found)
		return false;
	graph_pm_add(g, &(struct pm_insn){
				.at = at, .block = o->first + found->block, .is_call = true });
	i = (size_t)(uintptr_t)map_get(&g->by_place, at);
	g->pm.at[i - 1].is_maybe = false;
	if (found->name &&
	    !map_get(&g->modifiers, graph_name_hash(o->code.names.at + found->name))) {
		map_set(&g->modifiers, graph_name_hash(o->code.names.at + found->name), g);
		g->is_stale = true;
	}
	return true;
}

void graph_cover(struct graph *g, place instruction)
{
	bool is_call = call_cover(g, instruction);
	size_t i = (size_t)(uintptr_t)map_get(&g->by_place, instruction);

	if (!i && is_call)
		return;
	if (!i) {
		uint32_t block = graph_block(g, instruction);

		if (block == UINT32_MAX)
			return;
		graph_pm_add(g, &(struct pm_insn){ .at = instruction, .block = block });
		i = (size_t)(uintptr_t)map_get(&g->by_place, instruction);
	}
	if (!g->pm.at[i - 1].is_covered)
		g->is_covered_stale = true;
	g->pm.at[i - 1].is_covered = true;
}

/* Counts the instructions and calls that are known to modify PM. A library call that may modify PM
 * does not count if it was run and did not. */
uint64_t graph_nknown(const struct graph *g)
{
	uint64_t n = 0;

	for (size_t i = 0; i < g->pm.n; i++)
		n += !g->pm.at[i].is_maybe || !graph_is_covered(g, &g->pm.at[i]);
	return n;
}

uint64_t graph_ncovered(const struct graph *g)
{
	uint64_t n = 0;

	for (size_t i = 0; i < g->pm.n; i++)
		n += !g->pm.at[i].is_maybe && graph_is_covered(g, &g->pm.at[i]);
	return n;
}
