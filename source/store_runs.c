/* Finds where the memory begins that memcpy() or the assignment of a struct fills. Such a copy is a
 * run of stores, in any order: they follow each other and lie together, and the lowest is the
 * beginning. A loop that fills one array element after the other counts as one run, too, which does
 * no harm. */
#include "source/types_internal.h"

enum { GAP_BYTES = 256 }; /* a copy may skip so many bytes and fill them later */

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

/* Gives the destination's size in bytes; 0 if unknown. */
static uint64_t size_of(const struct destination *d)
{
	return d->place.is_region ? d->place.region_bytes : d->place.target->size_bytes;
}

/* Does the event belong to the run? Objects do not overlap, so stores within the object's size
 * belong to one object. */
static bool continues(const struct run *r, const struct trace_event *ev,
		      const struct destination *d)
{
	uint64_t end = ev->addr + ev->size_bytes, low = ev->addr < r->low ? ev->addr : r->low,
		 high = end > r->high ? end : r->high;

	if (r->destination != d || end + GAP_BYTES < r->low || ev->addr > r->high + GAP_BYTES)
		return false;
	return !size_of(d) || high - low <= size_of(d);
}

/* Finds the run that begins with this event, if types_learn() has seen it. */
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

static bool is_in_call(const struct trace_node *call, const struct trace_node *node)
{
	while (node && node != call)
		node = node->parent;
	return node != NULL;
}

/* Ends the thread's run, unless the event is a flush that the copying call makes. */
void run_break(struct types *t, const struct trace_event *ev)
{
	struct run *r = run_of(t, ev);
	bool is_flush =
		ev->kind == PMT_CLWB || ev->kind == PMT_CLFLUSHOPT || ev->kind == PMT_CLFLUSH;

	if (r->destination &&
	    !(is_flush && r->destination->call && is_in_call(r->destination->call, ev->site->node)))
		r->destination = NULL;
}

uint64_t run_step(struct types *t, const struct trace_event *ev, const struct destination *d,
		  bool is_learning)
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
	/* where threads alternate, the run is not the last of the vector */
	for (size_t i = t->runs.n; is_learning && i-- > 0;)
		if (t->runs.at[i].first_seq == r->first_seq) {
			t->runs.at[i].low = r->low;
			break;
		}
	return r->low;
}
