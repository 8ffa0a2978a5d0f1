/* See graph.h. Blocks of all objects get numbers; cycles are collapsed with Tarjan's algorithm, which meets components in the order in which what they
 * reach is known, so that each one's set of PM-modifying instructions is that of its blocks and successors. Done again when something was learned. */
#include "explore/graph.h"

#include <stdlib.h>
#include <string.h>

#include "explore/code.h"
#include "util/map.h"

struct object {
	struct code code;
	uint32_t first;	 /* number of its first block */
	bool is_read, is_left_out;
};

struct pm_insn {
	place at;
	uint32_t block;
	bool is_covered;
};

struct edge {
	uint32_t from, to;
};

typedef VEC(uint32_t) distances; /* of blocks; UINT32_MAX: no way leads there */

struct graph {
	struct objects *names;
	char *cache;
	VEC(struct object) objects;
	VEC(struct path_jump) jumps; /* learned */
	struct map known_jumps;
	VEC(struct pm_insn) pm;
	struct map by_place; /* index + 1 in pm */
	uint32_t nblocks;
	bool is_stale, is_distance_stale;
	/* the result */
	VEC(uint32_t) set_of; /* of a block; UINT32_MAX while it is not known */
	VEC(uint64_t) sets;   /* nwords each; the first is empty; components that reach the same share one */
	size_t nwords, nsets;
	VEC(uint64_t) uncovered, scratch;
	VEC(struct edge) back;	  /* sorted by where they lead */
	VEC(uint32_t) back_first; /* of a block, and one more at the end */
	distances to_new, to_any; /* PM-modifying instruction: not covered, or whichever */
	VEC(uint32_t) queue;
};

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

typedef VEC(struct edge) edges;

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

static int edges_compare(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

/* ---- components ---- */

struct tarjan {
	struct graph *g;
	const struct edge *edges;
	uint32_t *first;     /* edges of a block, by number; one more at the end */
	uint32_t *own, *own_first; /* instructions of a block, likewise */
	uint32_t *index, *low, *next;
	VEC(uint32_t) stack, calls;
	uint32_t counter;
};

static uint32_t set_new(struct graph *g)
{
	vec_reserve(&g->sets, (g->nsets + 1) * g->nwords);
	memset(g->sets.at + g->nsets * g->nwords, 0, g->nwords * sizeof g->sets.at[0]);
	return (uint32_t)g->nsets++;
}

static void set_unite(struct graph *g, uint32_t into, uint32_t from)
{
	for (size_t w = 0; w < g->nwords; w++)
		g->sets.at[into * g->nwords + w] |= g->sets.at[from * g->nwords + w];
}

/* What all that leads out of the blocks reaches: the set, if it is one; UINT32_MAX if there are several. Blocks of the same component have none yet. */
static uint32_t common_set(const struct tarjan *t, const uint32_t *blocks, size_t n)
{
	uint32_t common = 0;

	for (size_t i = 0; i < n; i++) {
		if (t->own_first[blocks[i]] != t->own_first[blocks[i] + 1])
			return UINT32_MAX;
		for (uint32_t e = t->first[blocks[i]]; e < t->first[blocks[i] + 1]; e++) {
			uint32_t set = t->g->set_of.at[t->edges[e].to];

			if (set == UINT32_MAX || set == 0 || set == common)
				continue;
			if (common)
				return UINT32_MAX;
			common = set;
		}
	}
	return common;
}

static uint32_t united_set(struct tarjan *t, const uint32_t *blocks, size_t n)
{
	struct graph *g = t->g;
	uint32_t set = set_new(g);

	for (size_t i = 0; i < n; i++) {
		for (uint32_t o = t->own_first[blocks[i]]; o < t->own_first[blocks[i] + 1]; o++)
			g->sets.at[set * g->nwords + t->own[o] / 64] |= 1ULL << t->own[o] % 64;
		for (uint32_t e = t->first[blocks[i]]; e < t->first[blocks[i] + 1]; e++)
			if (g->set_of.at[t->edges[e].to] != UINT32_MAX)
				set_unite(g, set, g->set_of.at[t->edges[e].to]);
	}
	return set;
}

static void component_end(struct tarjan *t, uint32_t root)
{
	size_t first = t->stack.n;
	uint32_t set;

	while (t->stack.at[--first] != root)
		;
	set = common_set(t, t->stack.at + first, t->stack.n - first);
	if (set == UINT32_MAX)
		set = united_set(t, t->stack.at + first, t->stack.n - first);
	for (size_t i = first; i < t->stack.n; i++)
		t->g->set_of.at[t->stack.at[i]] = set;
	t->stack.n = first;
}

/* Without recursion: a chain of blocks may be long. */
static void visit(struct tarjan *t, uint32_t root)
{
	*vec_add(&t->calls) = root;
	while (t->calls.n) {
		uint32_t v = t->calls.at[t->calls.n - 1];
		bool descends = false;

		if (!t->index[v]) {
			t->index[v] = t->low[v] = ++t->counter;
			t->next[v] = t->first[v];
			*vec_add(&t->stack) = v;
		}
		while (!descends && t->next[v] < t->first[v + 1]) {
			uint32_t to = t->edges[t->next[v]].to;

			if (!t->index[to]) {
				*vec_add(&t->calls) = to;
				descends = true;
			} else {
				if (t->g->set_of.at[to] == UINT32_MAX && t->low[to] < t->low[v])
					t->low[v] = t->low[to];
				t->next[v]++;
			}
		}
		if (descends)
			continue;
		t->calls.n--;
		if (t->low[v] == t->index[v])
			component_end(t, v);
	}
}

/* first[b] is the first of the items of block b; items are sorted by block. */
static uint32_t *first_of_block(uint32_t nblocks, const void *items, size_t n, size_t width)
{
	uint32_t *first = xcalloc((size_t)nblocks + 2, sizeof *first);
	uint32_t i = 0;

	for (uint32_t b = 0; b <= nblocks; b++) {
		while (i < n && *(const uint32_t *)((const char *)items + i * width) < b) /* the block comes first in an item */
			i++;
		first[b] = i;
	}
	return first;
}

static void own_gather(struct tarjan *t)
{
	struct graph *g = t->g;
	edges own = { 0 }; /* block, instruction */

	for (size_t i = 0; i < g->pm.n; i++)
		*vec_add(&own) = (struct edge){ g->pm.at[i].block, (uint32_t)i };
	if (own.n)
		qsort(own.at, own.n, sizeof own.at[0], edges_compare);
	t->own_first = first_of_block(g->nblocks, own.at, own.n, sizeof own.at[0]);
	t->own = xcalloc(own.n + 1, sizeof *t->own);
	for (size_t i = 0; i < own.n; i++)
		t->own[i] = own.at[i].to;
	vec_release(&own);
}

static void sets_find(struct graph *g, edges *all)
{
	struct tarjan t = { .g = g, .edges = all->at };

	if (all->n)
		qsort(all->at, all->n, sizeof all->at[0], edges_compare);
	t.first = first_of_block(g->nblocks, all->at, all->n, sizeof all->at[0]);
	own_gather(&t);
	t.index = xcalloc(g->nblocks + 1, sizeof *t.index);
	t.low = xcalloc(g->nblocks + 1, sizeof *t.low);
	t.next = xcalloc(g->nblocks + 1, sizeof *t.next);
	for (uint32_t b = 0; b < g->nblocks; b++)
		if (!t.index[b])
			visit(&t, b);
	free(t.first);
	free(t.own);
	free(t.own_first);
	free(t.index);
	free(t.low);
	free(t.next);
	vec_release(&t.stack);
	vec_release(&t.calls);
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
		qsort(g->back.at, g->back.n, sizeof g->back.at[0], edges_compare);
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

/* Breadth first, backwards from all of them. */
static void distances_find(struct graph *g, distances *d, bool is_any)
{
	d->n = g->queue.n = 0;
	for (uint32_t b = 0; b < g->nblocks; b++)
		*vec_add(d) = UINT32_MAX;
	for (size_t i = 0; i < g->pm.n; i++)
		if (is_any || !g->pm.at[i].is_covered)
			distance_set(g, d, g->pm.at[i].block, 0);
	for (size_t q = 0; q < g->queue.n; q++) {
		uint32_t block = g->queue.at[q];

		for (uint32_t e = g->back_first.at[block]; e < g->back_first.at[block + 1]; e++)
			distance_set(g, d, g->back.at[e].to, d->at[block] + 1);
	}
}

/* ---- the question ---- */

static void refresh(struct graph *g)
{
	edges all = { 0 };

	edges_gather(g, &all); /* may read objects, and so comes first */
	g->nwords = g->pm.n / 64 + 1;
	g->nsets = 0;
	set_new(g);
	vec_reserve(&g->set_of, g->nblocks);
	for (g->set_of.n = 0; g->set_of.n < g->nblocks; g->set_of.n++)
		g->set_of.at[g->set_of.n] = UINT32_MAX;
	sets_find(g, &all);
	back_fill(g, &all);
	distances_find(g, &g->to_any, true);
	g->is_distance_stale = true;
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

bool graph_is_near(struct graph *g, place p)
{
	const struct object *o;
	uint64_t from, to;
	uint32_t b;

	prepare(g, &p, 1);
	o = object_of(g, p);
	if (!o)
		return false;
	code_function(&o->code, PLACE_ADDRESS(p), &from, &to);
	b = code_block(&o->code, from);
	for (b = b == UINT32_MAX ? 0 : b; b < o->code.starts.n && o->code.starts.at[b] < to; b++)
		if (g->to_any.at[o->first + b] <= NEAR_BLOCKS)
			return true;
	return false;
}
