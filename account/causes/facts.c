/* Collects the events of the places that findings are about, and compares them. Of a place with
 * very many events, only the first and the last ones are kept, because findings are about
 * either. */
#include "account/causes/facts.h"

#include <stdlib.h>

#include "trace/owner.h"

#define TOUCHES_MAX 256u /* events per place */

struct actor {
	uint32_t stream, thread, epoch, depth;
	size_t span; /* index of the open transaction if depth > 0 */
};

typedef VEC(struct actor) actors;

#define ADDS_RECENT 32u

struct recent_adds {
	struct range {
		uint64_t addr, len_bytes;
	} list[ADDS_RECENT];
	size_t n; /* number of all events */
};

void facts_want(struct facts *f, uint32_t site)
{
	while (f->wanted.n <= site)
		*vec_add(&f->wanted) = false;
	f->wanted.at[site] = site != 0;
}

void facts_release(struct facts *f)
{
	for (size_t i = 0; i < f->sites.n; i++)
		vec_release(&f->sites.at[i]);
	vec_release(&f->sites);
	vec_release(&f->wanted);
	vec_release(&f->spans);
	vec_release(&f->known);
	vec_release(&f->last);
	vec_release(&f->is_added_late);
	vec_release(&f->acknowledgements);
}

static struct actor *actor_of(actors *all, const struct trace_event *ev)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].stream == ev->stream && all->at[i].thread == ev->thread)
			return &all->at[i];
	*vec_add(all) = (struct actor){ .stream = ev->stream, .thread = ev->thread };
	return &all->at[all->n - 1];
}

static void note_tx(struct facts *f, struct actor *a, const struct trace_event *ev)
{
	if (ev->arg[0])
		return; /* several threads take part in it */
	if (ev->kind == PMT_TX_BEGIN && a->depth++ == 0) {
		a->span = f->spans.n;
		*vec_add(&f->spans) =
			(struct tx_span){ ev->stream, ev->thread, ev->seq, UINT64_MAX };
	} else if (ev->kind == PMT_TX_END && a->depth && --a->depth == 0) {
		f->spans.at[a->span].end_seq = ev->seq;
	}
}

/* Adds an event. The first half of the list stays; later events replace each other in the second
 * half. */
static void add_touch(touches *list, size_t *n, struct touch t)
{
	if (list->n < TOUCHES_MAX)
		*vec_add(list) = t;
	else
		list->at[TOUCHES_MAX / 2 + *n % (TOUCHES_MAX / 2)] = t;
	++*n;
}

static void note_site(struct facts *f, const struct trace_site *site)
{
	if (!site)
		return;
	while (f->known.n <= site->id)
		*vec_add(&f->known) = NULL;
	f->known.at[site->id] = site;
}

/* Notes a range that the program adds to a transaction. Libraries also log their own data, so only
 * ranges count to which the program stores. */
static void note_add(struct facts *f, struct recent_adds *a, const struct trace_event *ev)
{
	if (ev->kind == PMT_TX_ADD)
		a->list[a->n++ % ADDS_RECENT] = (struct range){ ev->addr, ev->arg[0] };
	if (a->n == 0 || !trace_is_store(ev->kind) || owner_of_site(ev->site) == OWNER_PMDK)
		return;
	for (size_t i = 0; i < a->n && i < ADDS_RECENT; i++)
		if (ev->addr - a->list[i].addr < a->list[i].len_bytes &&
		    a->list[i].len_bytes > f->longest_add)
			f->longest_add = a->list[i].len_bytes;
}

/* Notes the places whose last store, in the same transaction, is to the range that is added now. */
static void note_late(struct facts *f, const struct actor *a, const struct trace_event *ev)
{
	for (size_t i = 0; a->depth && i < f->sites.n; i++) {
		const struct touch *last = &f->last.at[i];

		if (last->seq && last->stream == ev->stream && last->thread == ev->thread &&
		    last->seq > f->spans.at[a->span].begin_seq && ev->addr <= last->addr &&
		    last->end <= ev->addr + ev->arg[0])
			f->is_added_late.at[i] = true;
	}
}

void facts_take(struct facts *f, const struct trace *trace)
{
	VEC(size_t) counts = { 0 };
	struct recent_adds adds = { 0 };
	actors all = { 0 };
	struct trace *t = trace_cursor(trace);
	struct trace_event ev;

	for (size_t i = 0; i < f->wanted.n; i++) {
		*vec_add(&f->sites) = (touches){ 0 };
		*vec_add(&f->last) = (struct touch){ 0 };
		*vec_add(&f->is_added_late) = false;
		*vec_add(&counts) = 0;
	}
	while (trace_next(t, &ev)) {
		uint32_t site = ev.site ? ev.site->id : 0;
		struct actor *a = actor_of(&all, &ev);
		uint64_t first = ev.addr / PMT_LINE_BYTES,
			 last = (ev.addr + (ev.size_bytes ? ev.size_bytes - 1 : 0)) /
				PMT_LINE_BYTES;

		note_site(f, ev.site);
		if (ev.kind == PMT_OUTPUT || ev.kind == PMT_OP_BEGIN || ev.kind == PMT_OP_END)
			*vec_add(&f->acknowledgements) = ev.seq;
		if (ev.kind == PMT_TX_BEGIN || ev.kind == PMT_TX_END)
			note_tx(f, a, &ev);
		note_add(f, &adds, &ev);
		if (ev.kind == PMT_TX_ADD)
			note_late(f, a, &ev);
		a->epoch += trace_is_barrier(ev.kind) || ev.kind == PMT_STORE_RMW ||
			    ev.kind == PMT_RMW_FENCE;
		if (site >= f->wanted.n || !f->wanted.at[site])
			continue;
		for (uint64_t line = first; line <= (trace_is_store(ev.kind) ? last : first);
		     line++)
			add_touch(&f->sites.at[site], &counts.at[site],
				  (struct touch){ ev.seq, line, ev.addr, ev.addr + ev.size_bytes,
						  ev.stream, ev.thread, a->epoch });
		f->last.at[site] = (struct touch){ .seq = ev.seq,
						   .addr = ev.addr,
						   .end = ev.addr + ev.size_bytes,
						   .stream = ev.stream,
						   .thread = ev.thread };
	}
	for (size_t i = 0; i < f->sites.n; i++)
		if (f->sites.at[i].n > 1)
			qsort(f->sites.at[i].at, f->sites.at[i].n, sizeof *f->sites.at[i].at,
			      touch_order);
	trace_close(t);
	vec_release(&all);
	vec_release(&counts);
}

const struct tx_span *facts_span(const struct facts *f, uint64_t seq)
{
	size_t low = 0, high = f->spans.n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (f->spans.at[middle].begin_seq <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	while (low > 0)
		if (seq < f->spans.at[--low].end_seq)
			return &f->spans.at[low];
	return NULL;
}

uint64_t facts_next_acknowledgement(const struct facts *f, uint64_t seq)
{
	size_t low = 0, high = f->acknowledgements.n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (f->acknowledgements.at[middle] <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low < f->acknowledgements.n ? f->acknowledgements.at[low] : UINT64_MAX;
}

const touches *facts_of(const struct facts *f, uint32_t site)
{
	static const touches none;

	return site < f->sites.n ? &f->sites.at[site] : &none;
}

static bool is_one_flush(const struct touch *a, const struct touch *b)
{
	return a->line == b->line && a->stream == b->stream && a->thread == b->thread &&
	       a->epoch == b->epoch;
}

bool facts_share_flush(const struct facts *f, uint32_t a, uint32_t b)
{
	const touches *x = facts_of(f, a), *y = facts_of(f, b);

	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < y->n; k++)
			if (is_one_flush(&x->at[i], &y->at[k]))
				return true;
	return false;
}

/* Is there, for each event of the first place, an event of the second place that the same flush
 * would serve? */
static bool is_each_served(const touches *x, const touches *y)
{
	for (size_t i = 0; i < x->n; i++) {
		size_t k = 0;

		while (k < y->n && !is_one_flush(&x->at[i], &y->at[k]))
			k++;
		if (k == y->n)
			return false;
	}
	return x->n > 0;
}

bool facts_share_flushes(const struct facts *f, uint32_t a, uint32_t b)
{
	return is_each_served(facts_of(f, a), facts_of(f, b)) &&
	       is_each_served(facts_of(f, b), facts_of(f, a));
}

bool facts_one_range(const struct facts *f, uint32_t a, uint32_t b)
{
	const touches *x = facts_of(f, a), *y = facts_of(f, b);

	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < y->n; k++) {
			const struct touch *p = &x->at[i], *q = &y->at[k];
			const uint64_t from = p->addr < q->addr ? p->addr : q->addr,
				       to = p->end > q->end ? p->end : q->end;

			if (p->line == q->line && ((p->addr <= q->end && q->addr <= p->end) ||
						   to - from <= f->longest_add))
				return true;
		}
	return false;
}

/* The next event of a place; 0: there is none. */
static uint64_t next_seq(const touches *list, uint64_t seq)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i].seq > seq)
			return list->at[i].seq;
	return 0;
}

bool facts_one_fence(const struct facts *f, struct stretch first, struct stretch second)
{
	const touches *a = facts_of(f, first.from), *a_end = facts_of(f, first.to),
		      *b = facts_of(f, second.from), *b_end = facts_of(f, second.to);

	for (size_t i = 0; i < a->n; i++) {
		const uint64_t fence = next_seq(a_end, a->at[i].seq);

		for (size_t k = 0; fence && k < b->n; k++)
			if (b->at[k].seq < fence && next_seq(b_end, b->at[k].seq) >= fence)
				return true;
	}
	return false;
}
