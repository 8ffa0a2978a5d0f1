/* Computes which PM-modifying instructions each block reaches. Tarjan's algorithm collapses cycles
 * and ends the components in an order in which all successors of a component are done. So the set
 * of a component is the union of its blocks' own instructions and the sets of its successors. */
#include <stdlib.h>
#include <string.h>

#include "explore/graph/graph_internal.h"

struct tarjan {
	struct graph *g;
	const struct edge *edges;
	uint32_t *first;           /* index of the block's first edge; one more at the end */
	uint32_t *own, *own_first; /* instructions of each block, with first indices likewise */
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

/* Finds the set to which all edges out of a component's blocks lead, if they agree and the blocks
 * have no PM-modifying instructions of their own. The component can then share this set. Else
 * UINT32_MAX. Edges to the empty set, 0, do not count. (Blocks of the same component have no set
 * yet.) */
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

/* Visits a component without recursion, because chains of blocks may be long. */
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

/* Fills first[b] with the index of block b's first item; items are sorted by block. */
static uint32_t *first_of_block(uint32_t nblocks, const void *items, size_t n, size_t width)
{
	uint32_t *first = xcalloc((size_t)nblocks + 2, sizeof *first);
	uint32_t i = 0;

	for (uint32_t b = 0; b <= nblocks; b++) {
		/* an item begins with its block */
		while (i < n && *(const uint32_t *)((const char *)items + i * width) < b)
			i++;
		first[b] = i;
	}
	return first;
}

static void own_gather(struct tarjan *t)
{
	struct graph *g = t->g;
	edges own = { 0 }; /* pairs of block and instruction */

	for (size_t i = 0; i < g->pm.n; i++)
		*vec_add(&own) = (struct edge){ g->pm.at[i].block, (uint32_t)i };
	if (own.n)
		qsort(own.at, own.n, sizeof own.at[0], graph_edges_compare);
	t->own_first = first_of_block(g->nblocks, own.at, own.n, sizeof own.at[0]);
	t->own = xcalloc(own.n + 1, sizeof *t->own);
	for (size_t i = 0; i < own.n; i++)
		t->own[i] = own.at[i].to;
	vec_release(&own);
}

void graph_sets_find(struct graph *g, edges *all)
{
	struct tarjan t = { .g = g, .edges = all->at };

	g->nwords = g->pm.n / 64 + 1;
	g->nsets = 0;
	set_new(g);
	vec_reserve(&g->set_of, g->nblocks);
	for (g->set_of.n = 0; g->set_of.n < g->nblocks; g->set_of.n++)
		g->set_of.at[g->set_of.n] = UINT32_MAX;
	if (all->n)
		qsort(all->at, all->n, sizeof all->at[0], graph_edges_compare);
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
