/* Collects the stores to each instance of a type into update behaviours, and reports a behaviour
 * when its epoch ends. epochs.h has the two rules that split an instance's stores. */
#include "crash/representative/epochs.h"

#include <string.h>

struct instance {
	struct instance *next; /* another type at the same address */
	uint64_t addr;
	uint64_t last_durable_seq;  /* of all its stores, including earlier epochs */
	uint64_t first_durable_seq; /* of the stores of the present epoch */
	size_t ndurable;            /* durable events before its last store */
	VEC(struct update) updates; /* of the present epoch */
	uint32_t type;
};

void epochs_init(struct epochs *e, const struct graph *g,
		 void (*on_behaviour)(const struct behaviour *b, void *arg), void *arg)
{
	*e = (struct epochs){ .graph = g, .on_behaviour = on_behaviour, .arg = arg };
}

void epochs_release(struct epochs *e)
{
	for (size_t i = 0; i < e->all.n; i++) {
		vec_release(&e->all.at[i]->updates);
		free(e->all.at[i]);
	}
	vec_release(&e->all);
	map_release(&e->instances);
}

static struct instance *instance_of(struct epochs *e, uint32_t type, uint64_t addr)
{
	struct instance *first = map_get(&e->instances, addr), *x = first;

	while (x && x->type != type)
		x = x->next;
	if (x)
		return x;
	x = xcalloc(1, sizeof *x);
	*x = (struct instance){
		.next = first, .addr = addr, .type = type, .first_durable_seq = GRAPH_NEVER
	};
	*vec_add(&e->all) = x;
	map_set(&e->instances, addr, x);
	return x;
}

static uint64_t durable_seq(const struct epochs *e, const struct update *u)
{
	return e->graph->stores.at[u->store].durable_seq;
}

/* Reports the first n updates as a behaviour; the others begin the next epoch. */
static void close_epoch(struct epochs *e, struct instance *x, size_t n)
{
	if (n == 0)
		return;
	e->on_behaviour(&(struct behaviour){ x->type, x->addr, x->updates.at, n }, e->arg);
	memmove(x->updates.at, x->updates.at + n, (x->updates.n - n) * sizeof *x->updates.at);
	x->updates.n -= n;
	x->first_durable_seq = GRAPH_NEVER;
	for (size_t i = 0; i < x->updates.n; i++)
		if (durable_seq(e, &x->updates.at[i]) < x->first_durable_seq)
			x->first_durable_seq = durable_seq(e, &x->updates.at[i]);
}

/* Applies rule 2: gives the number of updates before the first store V that separates them from the
 * present store; 0: no store does. All stores between two consecutive updates are to other
 * things. */
static size_t find_gap(const struct epochs *e, const struct instance *x, uint32_t store)
{
	uint64_t now = e->graph->stores.at[store].seq, durable = GRAPH_NEVER;

	if (x->first_durable_seq > now)
		return 0;
	for (size_t i = 0; i < x->updates.n; i++) {
		uint32_t from = x->updates.at[i].store + 1,
			 to = i + 1 < x->updates.n ? x->updates.at[i + 1].store : store;

		if (durable_seq(e, &x->updates.at[i]) < durable)
			durable = durable_seq(e, &x->updates.at[i]);
		if (from >= to || durable >= e->graph->stores.at[to].seq)
			continue;
		/* U1 must be durable before V is executed; if equal, V's own fence made it
		 * durable */
		if (durable > e->graph->stores.at[from].seq)
			from = graph_after(e->graph, durable - 1);
		if (from < to && graph_is_any_durable(e->graph, from, to, now))
			return i + 1;
	}
	return 0;
}

static bool has_field(const struct instance *x, uint32_t field)
{
	for (size_t i = 0; i < x->updates.n; i++)
		if (x->updates.at[i].field == field)
			return true;
	return false;
}

static void split(struct epochs *e, struct instance *x, uint32_t store, uint32_t field)
{
	const struct graph *g = e->graph;
	uint64_t now = g->stores.at[store].seq;
	size_t gap;

	while (e->ndurable < g->durable_events.n && g->durable_events.at[e->ndurable] <= now)
		e->ndurable++;
	/* if nothing became durable since the instance's last store, there was no V */
	if (x->ndurable != e->ndurable)
		while ((gap = find_gap(e, x, store)) > 0)
			close_epoch(e, x, gap);
	if (x->last_durable_seq <= now && has_field(x, field))
		close_epoch(e, x, x->updates.n);
}

void epochs_add(struct epochs *e, uint32_t store, uint32_t type, uint64_t instance, uint32_t field)
{
	struct instance *x = instance_of(e, type, instance);
	uint64_t durable = e->graph->stores.at[store].durable_seq;

	if (x->updates.n > 0 && x->updates.at[x->updates.n - 1].store == store)
		return; /* two levels of types that are the same thing */
	split(e, x, store, field);
	*vec_add(&x->updates) = (struct update){ store, field };
	if (x->last_durable_seq < durable)
		x->last_durable_seq = durable;
	if (x->first_durable_seq > durable)
		x->first_durable_seq = durable;
	x->ndurable = e->ndurable;
}

static int compare_instances(const void *a, const void *b)
{
	const struct instance *x = *(struct instance *const *)a, *y = *(struct instance *const *)b;
	uint32_t m = x->updates.n ? x->updates.at[0].store : UINT32_MAX,
		 n = y->updates.n ? y->updates.at[0].store : UINT32_MAX;

	return m != n ? (m > n) - (m < n) : (x->type > y->type) - (x->type < y->type);
}

void epochs_end(struct epochs *e)
{
	if (e->all.n > 0)
		qsort(e->all.at, e->all.n, sizeof *e->all.at, compare_instances);
	for (size_t i = 0; i < e->all.n; i++)
		close_epoch(e, e->all.at[i], e->all.at[i]->updates.n);
}
