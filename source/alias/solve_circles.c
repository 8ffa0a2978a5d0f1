/* Finds nodes that copy to each other in a circle and unites them. Their sets would end up equal,
 * so this saves most of the copying. */
#include <stdlib.h>

#include "source/alias/solve_internal.h"

struct walk {
	uint32_t *index, *low;
	bool *is_on;
	VEC(uint32_t) stack;
	VEC(struct visit {
		uint32_t node;
		size_t edge;
	})
	path;
	uint32_t next;
};

static void end_component(struct solver *s, struct walk *w, uint32_t n)
{
	uint32_t m;

	if (w->low[n] != w->index[n])
		return;
	do {
		m = w->stack.at[--w->stack.n];
		w->is_on[m] = false;
		node_unify(s, n, m);
	} while (m != n);
}

static void begin_node(struct walk *w, uint32_t n)
{
	w->index[n] = w->low[n] = ++w->next;
	w->is_on[n] = true;
	*vec_add(&w->stack) = n;
	*vec_add(&w->path) = (struct visit){ n, 0 };
}

/* Gives the next node that receives what n has: by a copy, or by a stride, which becomes a copy if
 * it leads back. False if there are no more. */
static bool next_edge(const struct solver *s, uint32_t n, size_t *edge, uint32_t *to)
{
	const struct node *node = &s->nodes.at[n];

	if (*edge < node->copies.n) {
		*to = node_find(s, node->copies.at[(*edge)++]);
		return true;
	}
	while (*edge - node->copies.n < node->rules.n) {
		const struct rule *r = &node->rules.at[(*edge)++ - node->copies.n];

		if (!r->is_stride)
			continue;
		*to = node_find(s, r->other);
		return true;
	}
	return false;
}

/* Finds the circles that can be reached from node `start`: Tarjan's strongly connected components,
 * without recursion. Nodes are united when their component is complete, so the copies of nodes on
 * the path do not change meanwhile. */
static void walk_from(struct solver *s, struct walk *w, uint32_t start)
{
	begin_node(w, start);
	while (w->path.n) {
		struct visit *v = &w->path.at[w->path.n - 1];
		uint32_t n = v->node, to;

		if (next_edge(s, n, &v->edge, &to)) {
			if (!w->index[to])
				begin_node(w, to);
			else if (w->is_on[to] && w->index[to] < w->low[n])
				w->low[n] = w->index[to];
			continue;
		}
		w->path.n--;
		if (w->path.n && w->low[n] < w->low[w->path.at[w->path.n - 1].node])
			w->low[w->path.at[w->path.n - 1].node] = w->low[n];
		end_component(s, w, n);
	}
}

void circles_collapse(struct solver *s)
{
	size_t n = s->nodes.n;
	struct walk w = { .index = xcalloc(n, sizeof *w.index),
			  .low = xcalloc(n, sizeof *w.low),
			  .is_on = xcalloc(n, sizeof *w.is_on) };

	for (uint32_t i = 1; i < n; i++)
		if (node_find(s, i) == i && !w.index[i])
			walk_from(s, &w, i);
	free(w.index);
	free(w.low);
	free(w.is_on);
	vec_release(&w.stack);
	vec_release(&w.path);
	s->nedges_since = 0;
}
