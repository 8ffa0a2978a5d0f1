/* Looks at the stores before and after a crash, for a state that loses some of them. A pass over
 * the trace is kept for the next state of the same failure point, unless it is too long for
 * memory. */
#include "crash/search/surroundings.h"

#define EVENTS_MAX ((size_t)1 << 18) /* events that are kept */

#define READERS_MAX 16u /* threads that load the oldest lost store */

struct question {
	const struct crash_store *lost;
	size_t nlost;
	uint64_t first, crash; /* first: the oldest lost store; crash: the end */
};

/* What is known about the oldest lost store, and who acknowledged something after it. */
struct acknowledging {
	struct surroundings_event oldest;
	struct surroundings_event readers[READERS_MAX];
	size_t nreaders;
	struct crash_store own, read, any;
};

static bool is_lost(const struct question *q, uint64_t seq)
{
	struct crash_store key = { seq, 0 };

	return q->nlost > 0 &&
	       bsearch(&key, q->lost, q->nlost, sizeof key, crash_store_order) != NULL;
}

static bool is_same_thread(const struct surroundings_event *a, const struct surroundings_event *b)
{
	return a->stream == b->stream && a->thread == b->thread;
}

static bool is_reader(const struct acknowledging *k, const struct surroundings_event *ev)
{
	for (size_t i = 0; i < k->nreaders; i++)
		if (is_same_thread(&k->readers[i], ev))
			return true;
	return false;
}

static void set_first(struct crash_store *to, struct crash_store from)
{
	if (!to->seq)
		*to = from;
}

static void note_acknowledgement(struct acknowledging *k, const struct surroundings_event *ev)
{
	set_first(&k->any, ev->store);
	if (k->oldest.store.seq && is_same_thread(&k->oldest, ev))
		set_first(&k->own, ev->store);
	else if (is_reader(k, ev))
		set_first(&k->read, ev->store);
}

static void note_load(struct acknowledging *k, const struct surroundings_event *ev)
{
	const struct surroundings_event *o = &k->oldest;

	if (o->store.seq && o->addr < ev->addr + ev->size_bytes &&
	    ev->addr < o->addr + o->size_bytes && k->nreaders < READERS_MAX && !is_reader(k, ev))
		k->readers[k->nreaders++] = *ev;
}

static void note(struct surroundings *out, const struct question *q, struct acknowledging *k,
		 const struct surroundings_event *ev)
{
	const uint64_t seq = ev->store.seq;

	if (ev->what == SURROUNDINGS_STORE && seq == q->first)
		k->oldest = *ev;
	if (ev->what == SURROUNDINGS_ACKNOWLEDGEMENT) {
		if (seq > q->first && seq < q->crash)
			note_acknowledgement(k, ev);
	} else if (ev->what == SURROUNDINGS_LOAD) {
		if (seq < q->crash)
			note_load(k, ev);
	} else if (seq < q->first) {
		out->before = ev->store;
	} else if (seq >= q->crash) {
		out->after = ev->store;
	} else if (!is_lost(q, seq)) {
		out->survivor = ev->store;
	}
}

static void conclude(struct surroundings *out, const struct acknowledging *k)
{
	out->acknowledged = k->own.seq ? k->own : k->read.seq ? k->read : k->any;
}

void surroundings_release(struct surroundings_read *a)
{
	vec_release(&a->events);
	*a = (struct surroundings_read){ 0 };
}

/* Reads the trace from the beginning, and keeps events from the oldest lost store on. */
static void read_trace(struct surroundings_read *a, const struct plan *p, const struct question *q,
		       struct acknowledging *k, struct surroundings *out)
{
	struct trace *t = trace_cursor(p->trace);
	struct trace_event ev;

	surroundings_release(a);
	a->crash_seq = q->crash;
	a->from_seq = q->first;
	while (!out->after.seq && trace_next(t, &ev)) {
		struct surroundings_event x = { .store = { ev.seq, site_id(ev.site) },
						.stream = ev.stream,
						.thread = ev.thread,
						.addr = ev.addr,
						.size_bytes = ev.size_bytes };

		if (plan_is_acknowledgement(p, ev.kind))
			x.what = SURROUNDINGS_ACKNOWLEDGEMENT;
		else if (ev.kind == PMT_LOAD)
			x.what = SURROUNDINGS_LOAD;
		else if (!trace_is_store(ev.kind))
			continue;
		note(out, q, k, &x);
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

	struct acknowledging k = { .nreaders = 0 };

	*out = (struct surroundings){ 0 };
	if (a->crash_seq != q.crash || a->from_seq > q.first) {
		read_trace(a, w->plan, &q, &k, out);
		conclude(out, &k);
		return;
	}
	out->before = a->before;
	for (size_t i = 0; i < a->events.n; i++)
		note(out, &q, &k, &a->events.at[i]);
	conclude(out, &k);
}
