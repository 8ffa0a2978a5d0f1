/* Sorts update behaviours into kinds by their shape and into variants by their places, then groups
 * the kinds that one of them can represent. The order is fixed, so the same run gives the same
 * groups. */
#include "crash/representative/groups.h"
#include "util/order.h"

#include <string.h>

void groups_init(struct groups *g, const struct shape_setting *setting)
{
	*g = (struct groups){ .setting = *setting };
}

void groups_release(struct groups *g)
{
	for (size_t i = 0; i < g->kinds.n; i++) {
		shape_release(&g->kinds.at[i].shape);
		vec_release(&g->kinds.at[i].variants);
		vec_release(&g->kinds.at[i].groups);
	}
	for (size_t i = 0; i < g->variants.n; i++) {
		free(g->variants.at[i].seqs);
		free(g->variants.at[i].sites);
	}
	for (size_t i = 0; i < g->groups.n; i++)
		vec_release(&g->groups.at[i].members);
	vec_release(&g->kinds);
	vec_release(&g->variants);
	vec_release(&g->groups);
	map_release(&g->by_shape);
	map_release(&g->by_places);
}

/* ---- collecting ---- */

static void *index_value(size_t i)
{
	return (void *)(uintptr_t)(i + 1);
}

/* Finds the kind of a shape; a new kind takes the shape. */
static uint32_t kind_of(struct groups *g, struct shape *s)
{
	uint64_t key = s->hash;
	uintptr_t at;

	for (; (at = (uintptr_t)map_get(&g->by_shape, key)); key++)
		if (shape_same(&g->kinds.at[at - 1].shape, s)) {
			shape_release(s);
			return (uint32_t)at - 1;
		}
	map_set(&g->by_shape, key, index_value(g->kinds.n));
	*vec_add(&g->kinds) = (struct kind){ .shape = *s };
	return (uint32_t)g->kinds.n - 1;
}

/* Lists the places of a behaviour; free() the list. */
static uint32_t *sites_of(const struct groups *g, const struct behaviour *b, size_t *n)
{
	uint32_t *sites = xcalloc(b->n, sizeof *sites);

	*n = 0;
	for (size_t i = 0; i < b->n; i++)
		sites[i] = g->setting.graph->stores.at[b->updates[i].store].site;
	qsort(sites, b->n, sizeof *sites, order_u32);
	for (size_t i = 0; i < b->n; i++)
		if (*n == 0 || sites[*n - 1] != sites[i])
			sites[(*n)++] = sites[i];
	return sites;
}

static bool same_places(const struct variant *v, uint32_t kind, const uint32_t *sites,
			size_t nsites)
{
	return v->kind == kind && v->nsites == nsites &&
	       memcmp(v->sites, sites, nsites * sizeof *sites) == 0;
}

static void variant_add(struct groups *g, const struct behaviour *b, uint32_t kind, uint32_t *sites,
			size_t nsites)
{
	struct variant *v = vec_add(&g->variants);

	*v = (struct variant){ .kind = kind,
			       .count = 1,
			       .instance = b->instance,
			       .first_seq = g->setting.graph->stores.at[b->updates[0].store].seq,
			       .seqs = xcalloc(b->n, sizeof *v->seqs),
			       .nseqs = b->n,
			       .sites = sites,
			       .nsites = nsites };
	for (size_t i = 0; i < b->n; i++)
		v->seqs[i] = g->setting.graph->stores.at[b->updates[i].store].seq;
	*vec_add(&g->kinds.at[kind].variants) = (uint32_t)g->variants.n - 1;
}

void groups_add(const struct behaviour *b, void *groups)
{
	struct groups *g = groups;
	struct shape s;
	uint32_t kind, *sites;
	uintptr_t at;
	uint64_t key;
	size_t n;

	shape_init(&s, &g->setting, b);
	kind = kind_of(g, &s);
	sites = sites_of(g, b, &n);
	g->kinds.at[kind].count++;
	g->nbehaviours++;
	key = ((uint64_t)kind << 32 ^ n) * 0x9e3779b97f4a7c15u;
	for (size_t i = 0; i < n; i++)
		key = (key ^ sites[i]) * 0xff51afd7ed558ccdu;
	for (; (at = (uintptr_t)map_get(&g->by_places, key)); key++)
		if (same_places(&g->variants.at[at - 1], kind, sites, n)) {
			g->variants.at[at - 1].count++;
			free(sites);
			return;
		}
	map_set(&g->by_places, key, index_value(g->variants.n));
	variant_add(g, b, kind, sites, n);
}

/* ---- grouping ---- */

struct rank {
	const struct groups *groups;
	uint32_t i;
};

static uint64_t first_seq(const struct groups *g, const struct kind *k)
{
	return g->variants.at[k->variants.at[0]].first_seq;
}

static int compare_kinds(const void *a, const void *b)
{
	const struct rank *p = a, *q = b;
	const struct kind *x = &p->groups->kinds.at[p->i], *y = &q->groups->kinds.at[q->i];
	uint64_t m = first_seq(p->groups, x), n = first_seq(p->groups, y);

	if (x->shape.n != y->shape.n)
		return x->shape.n < y->shape.n ? 1 : -1;
	if (x->shape.norders + y->shape.others_at[y->shape.n] !=
	    y->shape.norders + x->shape.others_at[x->shape.n])
		return x->shape.norders + y->shape.others_at[y->shape.n] >
				       y->shape.norders + x->shape.others_at[x->shape.n]
			       ? 1
			       : -1;
	return m != n ? (m > n) - (m < n) : (p->i > q->i) - (p->i < q->i);
}

static void place(struct groups *g, uint32_t kind)
{
	struct kind *k = &g->kinds.at[kind];
	bool is_in = false;

	for (size_t i = 0; i < g->groups.n; i++) {
		struct group *to = &g->groups.at[i];

		if (!shape_represents(&g->kinds.at[to->kind].shape, &k->shape))
			continue;
		*vec_add(&to->members) = kind;
		to->count += k->count;
		is_in = true;
	}
	if (!is_in) {
		struct group *own = vec_add(&g->groups);

		*own = (struct group){ .kind = kind, .count = k->count };
		*vec_add(&own->members) = kind;
	}
}

/* Orders groups: the one whose representative stands for most others (kinds, then updates, then
 * behaviours) comes first. */
static int compare_groups(const void *a, const void *b)
{
	const struct rank *p = a, *q = b;
	const struct group *x = &p->groups->groups.at[p->i], *y = &q->groups->groups.at[q->i];
	uint32_t m = p->groups->kinds.at[x->kind].shape.n, n = p->groups->kinds.at[y->kind].shape.n;

	if (x->members.n != y->members.n)
		return x->members.n < y->members.n ? 1 : -1;
	if (m != n)
		return m < n ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (p->i > q->i) - (p->i < q->i);
}

static struct rank *ranked(const struct groups *g, size_t n,
			   int (*compare)(const void *, const void *))
{
	struct rank *r = xcalloc(n + 1, sizeof *r);

	for (size_t i = 0; i < n; i++)
		r[i] = (struct rank){ g, (uint32_t)i };
	qsort(r, n, sizeof *r, compare);
	return r;
}

void groups_end(struct groups *g)
{
	struct rank *order = ranked(g, g->kinds.n, compare_kinds);
	struct group *sorted;

	for (size_t i = 0; i < g->kinds.n; i++)
		place(g, order[i].i);
	free(order);
	order = ranked(g, g->groups.n, compare_groups);
	sorted = xcalloc(g->groups.n + 1, sizeof *sorted);
	for (size_t i = 0; i < g->groups.n; i++)
		sorted[i] = g->groups.at[order[i].i];
	free(g->groups.at);
	g->groups.at = sorted;
	g->groups.room = g->groups.n + 1;
	free(order);
	for (size_t i = 0; i < g->groups.n; i++)
		for (size_t k = 0; k < sorted[i].members.n; k++)
			*vec_add(&g->kinds.at[sorted[i].members.at[k]].groups) = (uint32_t)i;
}
