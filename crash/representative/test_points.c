/* Chooses the failure points at which a behaviour is tested. A store is undecided from the first
 * failure point after it to the last one before it is durable. What a crash shows changes only with
 * the behaviour's own stores. So after each of them, the first few failure points are taken, then
 * fewer and fewer. Recovery may also depend on an acknowledgement or a store elsewhere, which comes
 * soon and stays. So the first point after the next acknowledgement is taken, and multiples of 16,
 * 64, 256…, which are the same for many behaviours. If one place repeats a store in the same
 * behaviour, and the store never becomes durable, only the first two and the last count. */
#include "crash/representative/test_points.h"
#include "util/order.h"

#define NEAR 4u /* number of failure points right after a store, which are all taken */
#define FAR 16u /* then comes the next multiple of this, then of this times the factor, and so on */
#define FAR_FACTOR 4u
#define REPEATS 2u

/* Gives the number of the first failure point after event seq; if there is none, one more than
 * there are. */
static uint64_t point_after(const struct representatives *r, uint64_t seq)
{
	size_t low = 0, high = r->points.list.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->points.list.at[middle].seq <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low + 1;
}

/* Gives the first failure point at which the operation of the store was acknowledged; 0 if there is
 * none. */
static uint64_t point_acknowledged(const struct representatives *r, uint64_t seq)
{
	size_t ack = seqs_after(r->acks.at, r->acks.n, seq);

	return ack < r->acks.n ? point_after(r, r->acks.at[ack]) : 0;
}

/* Adds the failure points of one store. `end`: the first one at which the whole behaviour is
 * durable. */
static void add_store(const struct representatives *r, const struct graph_store *s, uint64_t end,
		      point_list *out)
{
	uint64_t first = point_after(r, s->seq), last = s->durable_seq == GRAPH_NEVER
								? r->points.list.n + 1
								: point_after(r, s->durable_seq);
	uint64_t acknowledged = point_acknowledged(r, s->seq);

	if (first > r->points.list.n)
		return;
	*vec_add(out) = first;
	for (uint64_t p = first + 1; p < last && p <= first + NEAR; p++)
		*vec_add(out) = p;
	if (acknowledged > first + NEAR && acknowledged < last)
		*vec_add(out) = acknowledged;
	for (uint64_t step = FAR, p; (p = (first / step + 1) * step) < last; step *= FAR_FACTOR)
		if (p > first + NEAR)
			*vec_add(out) = p;
	/* the store is durable now, others of the behaviour may not be */
	if (last < end && last <= r->points.list.n)
		*vec_add(out) = last;
}

/* Counts the stores of the behaviour that come before its i-th store and are of the same place. */
static size_t repeats(const struct representatives *r, const struct variant *v, uint32_t *counts,
		      size_t i)
{
	uint32_t site = r->graph.stores.at[graph_find(&r->graph, v->seqs[i])].site;
	size_t low = 0, high = v->nsites;

	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;

		if (v->sites[middle] <= site)
			low = middle;
		else
			high = middle;
	}
	return counts[low]++;
}

void test_points_of(const struct representatives *r, const struct variant *v, point_list *out)
{
	uint32_t *counts = xcalloc(v->nsites + 1, sizeof *counts);
	uint64_t end = 0;
	size_t n = 0;

	out->n = 0;
	for (size_t i = 0; i < v->nseqs; i++) {
		uint64_t durable =
			r->graph.stores.at[graph_find(&r->graph, v->seqs[i])].durable_seq;

		if (end < durable)
			end = durable;
	}
	end = end == GRAPH_NEVER ? UINT64_MAX : point_after(r, end);
	for (size_t i = 0; i < v->nseqs; i++)
		if (repeats(r, v, counts, i) < REPEATS || i + 1 == v->nseqs)
			add_store(r, &r->graph.stores.at[graph_find(&r->graph, v->seqs[i])], end,
				  out);
	if (out->n > 0)
		qsort(out->at, out->n, sizeof *out->at, order_u64);
	for (size_t i = 0; i < out->n; i++)
		if (n == 0 || out->at[n - 1] != out->at[i])
			out->at[n++] = out->at[i];
	out->n = n;
	free(counts);
}
