/* Collects the edges between blocks: those in each object's code, calls into other objects by name,
 * and indirect jumps that runs took. */
#include "explore/graph/graph_internal.h"

uint64_t graph_name_hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	while (*s)
		h = (h ^ (uint8_t)*s++) * 0x100000001b3ULL;
	return h | 1;
}

/* Maps names to blocks; the first object that exports a name wins, as for the dynamic linker. */
static void exports_gather(struct graph *g, struct map *by_name)
{
	for (size_t i = 0; i < g->objects.n; i++) {
		const struct object *o = &g->objects.at[i];

		for (size_t k = 0; k < o->code.exports.n; k++) {
			uint64_t hash =
				graph_name_hash(o->code.names.at + o->code.exports.at[k].name);
			uint32_t block = code_block(&o->code, o->code.exports.at[k].address);

			if (block != UINT32_MAX && !map_get(by_name, hash))
				map_set(by_name, hash, (void *)(uintptr_t)(o->first + block + 1));
		}
	}
}

void graph_edges_gather(struct graph *g, edges *all)
{
	struct map by_name = { 0 };

	exports_gather(g, &by_name);
	for (size_t i = 0; i < g->objects.n; i++) {
		const struct object *o = &g->objects.at[i];

		for (size_t k = 0; k < o->code.edges.n; k++) {
			const struct code_edge *e = &o->code.edges.at[k];
			uint32_t to = e->name ? 0 : code_block(&o->code, e->to);

			if (e->name) {
				uintptr_t found = (uintptr_t)map_get(
					&by_name, graph_name_hash(o->code.names.at + e->name));

				if (found)
					*vec_add(all) = (struct edge){ o->first + e->from,
								       (uint32_t)found - 1 };
			} else if (to != UINT32_MAX) {
				*vec_add(all) = (struct edge){ o->first + e->from, o->first + to };
			}
		}
	}
	for (size_t i = 0; i < g->jumps.n; i++) {
		uint32_t from = graph_block(g, g->jumps.at[i].from),
			 to = graph_block(g, g->jumps.at[i].to);

		if (from != UINT32_MAX && to != UINT32_MAX)
			*vec_add(all) = (struct edge){ from, to };
	}
	map_release(&by_name);
}

int graph_edges_compare(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->from != y->from ? (x->from < y->from ? -1 : 1)
				  : (x->to > y->to) - (x->to < y->to);
}
