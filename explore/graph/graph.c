/* See graph.h. Blocks of all objects get numbers; what each reaches is found by graph_sets.c, and how far that is, here. Done again when something was learned. */
#include <stdlib.h>
#include <string.h>

#include "explore/graph/graph_internal.h"

struct graph *graph_new(struct objects *objects, const char *cache)
{
	struct graph *g = xcalloc(1, sizeof *g);

	g->names = objects;
	g->cache = cache ? xstrdup(cache) : NULL;
	g->is_stale = true; /* nothing is known yet */
	return g;
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

/* ---- objects ---- */

/* The C library's own fences and non-temporal copies are everywhere within reach, and say nothing about the program. */
static bool is_left_out(const char *path)
{
	static const char *const names[] = { "libc.so", "ld-linux", "libm.so", "libpthread", "libdl.so", "librt.so", "vgpreload_" };
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void pm_add(struct graph *g, place at, uint32_t block)
{
	if (map_get(&g->by_place, at))
		return;
	*vec_add(&g->pm) = (struct pm_insn){ .at = at, .block = block };
	map_set(&g->by_place, at, (void *)(uintptr_t)g->pm.n);
	g->is_stale = true;
}

static struct object *object_of(struct graph *g, place p)
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
	o->is_left_out = is_left_out(g->names->paths.at[n - 1]) || code_read(&o->code, g->names->paths.at[n - 1], g->cache, &ignored) < 0;
	if (o->is_left_out)
		return NULL;
	o->first = g->nblocks;
	g->nblocks += (uint32_t)o->code.starts.n;
	for (size_t i = 0; i < o->code.pm.n; i++)
		pm_add(g, (uint64_t)n << 48 | o->code.pm.at[i], o->first + code_block(&o->code, o->code.pm.at[i]));
	g->is_stale = true;
	return o;
}

static uint32_t block_of(struct graph *g, place p)
{
	struct object *o = object_of(g, p);
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
	return object_of(g, p) != NULL;
}

bool graph_can_jump(struct graph *g, place from, place to)
{
	struct object *o = object_of(g, to);
	uint64_t first, end;

	if (!o)
		return false;
	code_function(&o->code, PLACE_ADDRESS(to), &first, &end);
	if (PLACE_ADDRESS(to) == first)
		return true;
	code_function(&o->code, PLACE_ADDRESS(from), &first, &end);
	return PLACE_OBJECT(from) == PLACE_OBJECT(to) && PLACE_ADDRESS(to) >= first && PLACE_ADDRESS(to) < end;
}

void graph_suspect(struct graph *g, place object, const struct lines_ranges *ranges)
{
	const struct object *o = object_of(g, object);

	for (size_t i = 0; o && i < ranges->list.n; i++)
		for (size_t k = 0; k < o->code.stores.n; k++) {
			uint64_t at = o->code.stores.at[k];

			if (at >= ranges->list.at[i].from && at < ranges->list.at[i].to)
				pm_add(g, PLACE_OBJECT(object) << 48 | at, o->first + code_block(&o->code, at));
		}
}

void graph_cover(struct graph *g, place instruction)
{
	size_t i = (size_t)(uintptr_t)map_get(&g->by_place, instruction);

	if (!i) {
		uint32_t block = block_of(g, instruction);

		if (block == UINT32_MAX)
			return;
		pm_add(g, instruction, block);
		i = (size_t)(uintptr_t)map_get(&g->by_place, instruction);
	}
	if (!g->pm.at[i - 1].is_covered)
		g->is_distance_stale = true;
	g->pm.at[i - 1].is_covered = true;
	if (!g->is_stale)
		g->uncovered.at[(i - 1) / 64] &= ~(1ULL << (i - 1) % 64);
}

uint64_t graph_nknown(const struct graph *g)
{
	return g->pm.n;
}

uint64_t graph_ncovered(const struct graph *g)
{
	uint64_t n = 0;

	for (size_t i = 0; i < g->pm.n; i++)
		n += g->pm.at[i].is_covered;
	return n;
}

/* ---- edges ---- */

static uint64_t name_hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	while (*s)
		h = (h ^ (uint8_t)*s++) * 0x100000001b3ULL;
	return h | 1;
}

/* The first object that exports a name has it, as for the dynamic linker. */
static void exports_gather(struct graph *g, struct map *by_name)
{
	for (size_t i = 0; i < g->objects.n; i++) {
		const struct object *o = &g->objects.at[i];

		for (size_t k = 0; k < o->code.exports.n; k++) {
			uint64_t hash = name_hash(o->code.names.at + o->code.exports.at[k].name);
			uint32_t block = code_block(&o->code, o->code.exports.at[k].address);

			if (block != UINT32_MAX && !map_get(by_name, hash))
				map_set(by_name, hash, (void *)(uintptr_t)(o->first + block + 1));
		}
	}
}

static void edges_gather(struct graph *g, edges *all)
{
	struct map by_name = { 0 };

	exports_gather(g, &by_name);
	for (size_t i = 0; i < g->objects.n; i++) {
		const struct object *o = &g->objects.at[i];

		for (size_t k = 0; k < o->code.edges.n; k++) {
			const struct code_edge *e = &o->code.edges.at[k];
			uint32_t to = e->name ? 0 : code_block(&o->code, e->to);

			if (e->name) {
				uintptr_t found = (uintptr_t)map_get(&by_name, name_hash(o->code.names.at + e->name));

				if (found)
					*vec_add(all) = (struct edge){ o->first + e->from, (uint32_t)found - 1 };
			} else if (to != UINT32_MAX) {
				*vec_add(all) = (struct edge){ o->first + e->from, o->first + to };
			}
		}
	}
	for (size_t i = 0; i < g->jumps.n; i++) {
		uint32_t from = block_of(g, g->jumps.at[i].from), to = block_of(g, g->jumps.at[i].to);

		if (from != UINT32_MAX && to != UINT32_MAX)
			*vec_add(all) = (struct edge){ from, to };
	}
	map_release(&by_name);
}

/* ---- distances ---- */

/* Edges the other way round. */
static void back_fill(struct graph *g, const edges *all)
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

/* Breadth first, backwards from all blocks in the queue. */
static void distances_spread(struct graph *g, distances *d)
{
	for (size_t q = 0; q < g->queue.n; q++) {
		uint32_t block = g->queue.at[q];

		for (uint32_t e = g->back_first.at[block]; e < g->back_first.at[block + 1]; e++)
			distance_set(g, d, g->back.at[e].to, d->at[block] + 1);
	}
}

static void distances_find(struct graph *g, distances *d, bool is_any)
{
	distances_clear(g, d);
	for (size_t i = 0; i < g->pm.n; i++)
		if (is_any || !g->pm.at[i].is_covered)
			distance_set(g, d, g->pm.at[i].block, 0);
	distances_spread(g, d);
}

/* ---- the question ---- */

static void refresh(struct graph *g)
{
	edges all = { 0 };

	edges_gather(g, &all); /* may read objects, and so comes first */
	graph_sets_find(g, &all);
	back_fill(g, &all);
	distances_find(g, &g->to_any, true);
	g->is_distance_stale = g->is_unrun_stale = true;
	vec_release(&all);
	vec_reserve(&g->uncovered, g->nwords);
	vec_reserve(&g->scratch, g->nwords);
	memset(g->uncovered.at, 0, g->nwords * sizeof g->uncovered.at[0]);
	for (size_t i = 0; i < g->pm.n; i++)
		if (!g->pm.at[i].is_covered)
			g->uncovered.at[i / 64] |= 1ULL << i % 64;
	g->is_stale = false;
}

/* The question can be answered for these places. */
static void prepare(struct graph *g, const place *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		object_of(g, from[i]); /* reads it, if it is new */
	if (g->is_stale)
		refresh(g);
}

/* Adds to the set in scratch what a place reaches, or takes it away. */
static void scratch_change(struct graph *g, place from, bool adds)
{
	uint32_t block = block_of(g, from);
	const uint64_t *set = block == UINT32_MAX ? NULL : g->sets.at + g->set_of.at[block] * g->nwords;

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
	prepare(g, from, n);
	memset(g->scratch.at, 0, g->nwords * sizeof g->scratch.at[0]);
	for (size_t i = 0; i < n; i++)
		scratch_change(g, from[i], true);
	return scratch_count(g);
}

uint64_t graph_reach_only(struct graph *g, place from, place without)
{
	prepare(g, (const place[]){ from, without }, 2);
	memset(g->scratch.at, 0, g->nwords * sizeof g->scratch.at[0]);
	scratch_change(g, from, true);
	scratch_change(g, without, false);
	return scratch_count(g);
}

uint32_t graph_distance(struct graph *g, place from)
{
	uint32_t block;

	prepare(g, &from, 1);
	if (g->is_distance_stale)
		distances_find(g, &g->to_new, false);
	g->is_distance_stale = false;
	block = block_of(g, from);
	return block == UINT32_MAX ? UINT32_MAX : g->to_new.at[block];
}

#define NEAR_BLOCKS 2 /* a call of a function that flushes counts */

static bool is_near(const struct graph *g, const struct object *o, uint32_t first, uint64_t to)
{
	for (uint32_t b = first; b < o->code.starts.n && o->code.starts.at[b] < to; b++)
		if (g->to_any.at[o->first + b] <= NEAR_BLOCKS)
			return true;
	return false;
}

bool graph_is_near(struct graph *g, place p)
{
	const struct object *o;
	uint64_t from, to;
	uint32_t first;

	prepare(g, &p, 1);
	o = object_of(g, p);
	if (!o)
		return false;
	code_function(&o->code, PLACE_ADDRESS(p), &from, &to);
	first = code_block(&o->code, from);
	return is_near(g, o, first == UINT32_MAX ? 0 : first, to);
}

/* ---- code that was not run ---- */

void graph_run(struct graph *g, const struct path_block *block)
{
	struct object *o = object_of(g, block->first);
	uint32_t b = o ? code_block(&o->code, PLACE_ADDRESS(block->first)) : UINT32_MAX;

	for (; b != UINT32_MAX && b < o->code.starts.n && o->code.starts.at[b] < PLACE_ADDRESS(block->first) + block->nbytes; b++) {
		while (g->was_run.n <= o->first + b)
			*vec_add(&g->was_run) = false;
		if (!g->was_run.at[o->first + b])
			g->is_unrun_stale = true;
		g->was_run.at[o->first + b] = true;
	}
}

/* What leads out of the object and nowhere else: not the program's own. */
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
		near = is_near(g, o, b, to);
		for (end = b; end < n && (end == b || o->code.starts.at[end] < to); end++)
			if (near && !is_stub[end] && (o->first + end >= g->was_run.n || !g->was_run.at[o->first + end]))
				distance_set(g, &g->to_unrun, o->first + end, 0);
	}
	free(is_stub);
}

static void unrun_find(struct graph *g)
{
	distances_clear(g, &g->to_unrun);
	for (size_t i = 0; i < g->objects.n; i++)
		if (!g->objects.at[i].is_left_out)
			unrun_add(g, &g->objects.at[i]);
	distances_spread(g, &g->to_unrun);
	g->is_unrun_stale = false;
}

uint32_t graph_distance_unrun(struct graph *g, place from)
{
	uint32_t block;

	prepare(g, &from, 1);
	if (g->is_unrun_stale)
		unrun_find(g);
	block = block_of(g, from);
	return block == UINT32_MAX ? UINT32_MAX : g->to_unrun.at[block];
}
