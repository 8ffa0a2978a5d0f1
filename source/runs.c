/* memcpy() and the assignment of a struct are many stores, in any order. They follow each other and lie together: the lowest of them is where the
 * destination begins. A loop that fills one element after the other is taken for one run, which is as good: the elements follow each other. */
#include "source/types_inner.h"

enum { GAP_BYTES = 256 }; /* what a copy may leave out for later */

static struct run *run_of(struct types *t, const struct trace_event *ev)
{
	uint64_t key = (uint64_t)ev->stream << 32 | ev->thread;
	struct run *r = map_get(&t->threads, key);

	if (!r) {
		r = arena_alloc(&t->arena, sizeof *r);
		*r = (struct run){ 0 };
		map_set(&t->threads, key, r);
	}
	return r;
}

static bool continues(const struct run *r, const struct trace_event *ev, const struct destination *d)
{
	return r->destination == d && ev->addr + ev->size_bytes + GAP_BYTES >= r->low && ev->addr <= r->high + GAP_BYTES;
}

/* The run that began with this event, if the trace has been learned. */
static const struct run *run_learned(const struct types *t, uint64_t seq)
{
	size_t low = 0, high = t->runs.n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->runs.at[middle].first_seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->runs.n && t->runs.at[low].first_seq == seq ? &t->runs.at[low] : NULL;
}

uint64_t run_step(struct types *t, const struct trace_event *ev, const struct destination *d, bool is_learning)
{
	struct run *r = run_of(t, ev);
	const struct run *known;

	if (!d) {
		r->destination = NULL;
		return ev->addr;
	}
	known = is_learning ? NULL : run_learned(t, ev->seq);
	if (known || !continues(r, ev, d)) {
		*r = (struct run){ ev->seq, ev->addr, ev->addr + ev->size_bytes, d };
		if (known)
			r->low = known->low;
		if (is_learning)
			*vec_add(&t->runs) = *r;
	}
	if (ev->addr < r->low)
		r->low = ev->addr;
	if (ev->addr + ev->size_bytes > r->high)
		r->high = ev->addr + ev->size_bytes;
	/* the last run with this beginning is not the vector's last, where threads alternate */
	for (size_t i = t->runs.n; is_learning && i-- > 0;)
		if (t->runs.at[i].first_seq == r->first_seq) {
			t->runs.at[i].low = r->low;
			break;
		}
	return r->low;
}
