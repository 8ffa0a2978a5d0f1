/* Looks at the stores before and after a crash, for a state that loses some of them. A pass over
 * the trace is kept for the next state of the same failure point, unless it is too long for
 * memory. */
#include "crash/search/surroundings.h"

#define EVENTS_MAX ((size_t)1 << 18) /* events that are kept */

struct question {
	const struct crash_store *lost;
	size_t nlost;
	uint64_t first, crash; /* first: the oldest lost store; crash: the end */
};

static bool is_lost(const struct question *q, uint64_t seq)
{
	struct crash_store key = { seq, 0 };

	return q->nlost > 0 &&
	       bsearch(&key, q->lost, q->nlost, sizeof key, crash_store_order) != NULL;
}

static void note(struct surroundings *out, const struct question *q,
		 const struct surroundings_event *ev)
{
	const uint64_t seq = ev->store.seq;

	if (ev->is_acknowledgement) {
		if (seq > q->first && seq < q->crash && !out->acknowledged.seq)
			out->acknowledged = ev->store;
	} else if (seq < q->first) {
		out->before = ev->store;
	} else if (seq >= q->crash) {
		out->after = ev->store;
	} else if (!is_lost(q, seq)) {
		out->survivor = ev->store;
	}
}

void surroundings_release(struct surroundings_read *a)
{
	vec_release(&a->events);
	*a = (struct surroundings_read){ 0 };
}

/* Reads the trace from the beginning, and keeps events from the oldest lost store on. */
static void read_trace(struct surroundings_read *a, const struct plan *p, const struct question *q,
		       struct surroundings *out)
{
	struct trace *t = trace_cursor(p->trace);
	struct trace_event ev;

	surroundings_release(a);
	a->crash_seq = q->crash;
	a->from_seq = q->first;
	while (!out->after.seq && trace_next(t, &ev)) {
		struct surroundings_event x = { { ev.seq, site_id(ev.site) },
						plan_is_acknowledgement(p, ev.kind) };

		if (!x.is_acknowledgement && !trace_is_store(ev.kind))
			continue;
		note(out, q, &x);
		if (ev.seq >= q->first && a->events.n <= EVENTS_MAX)
			*vec_add(&a->events) = x;
	}
	a->before = out->before;
	if (a->events.n > EVENTS_MAX)
		surroundings_release(a);
	trace_close(t);
}

void surroundings_look(struct surroundings_read *a, const struct walk *w,
		       const struct crash_store *lost, size_t nlost, struct surroundings *out)
{
	const struct question q = { lost, nlost, nlost > 0 ? lost[0].seq : w->seq, w->seq };

	*out = (struct surroundings){ 0 };
	if (a->crash_seq != q.crash || a->from_seq > q.first) {
		read_trace(a, w->plan, &q, out);
		return;
	}
	out->before = a->before;
	for (size_t i = 0; i < a->events.n; i++)
		note(out, &q, &a->events.at[i]);
}
