/* Finds stores that pmemcheck's SET_CLEAN or PMEND_IGNORE names. This is done byte by byte: one
 * declaration may name a part of a store, and two may name its halves. SET_CLEAN is about bytes
 * that are stored already and not durable; PMEND_IGNORE also about later stores. */
#include "crash/states/declared.h"

#include <stdlib.h>

struct declaration {
	struct declared *d;
	const struct model *m;
	uint64_t from, to;
};

static void add(declared_list *list, uint64_t seq, uint64_t from, uint64_t to)
{
	struct declared_bytes *last = list->n > 0 ? &list->at[list->n - 1] : NULL;

	if (!last || last->seq != seq || last->from != from || last->to != to)
		*vec_add(list) = (struct declared_bytes){ seq, from, to };
}

struct neighbour {
	struct declared *d;
	uint64_t seq;
};

static void note_neighbour(const struct model_store *s, void *arg)
{
	const struct neighbour *n = arg;

	if (s->seq == n->seq)
		add(&n->d->all, s->seq, s->addr, s->addr + s->size_bytes);
}

/* Notes the part of a store that is in one line; the model reports a store that crosses lines in
 * parts. */
static void note_store(const struct model_store *s, void *arg)
{
	const struct declaration *w = arg;
	const uint64_t end = s->addr + s->size_bytes;
	struct neighbour n = { w->d, s->seq };

	add(&w->d->bytes, s->seq, s->addr > w->from ? s->addr : w->from, end < w->to ? end : w->to);
	add(&w->d->all, s->seq, s->addr, end);
	if (s->addr % PMT_LINE_BYTES == 0 && s->addr <= w->from)
		model_each(w->m, s->addr - 1, 1, note_neighbour, &n);
	if (end % PMT_LINE_BYTES == 0 && end >= w->to)
		model_each(w->m, end, 1, note_neighbour, &n);
}

static void note_volatile(struct declared *d, const struct trace_event *ev)
{
	const uint64_t end = ev->addr + ev->size_bytes;

	for (size_t i = 0; i < d->volatiles.n; i++) {
		const struct declared_range *v = &d->volatiles.at[i];

		if (ev->addr >= v->to || v->from >= end)
			continue;
		add(&d->bytes, ev->seq, ev->addr > v->from ? ev->addr : v->from,
		    end < v->to ? end : v->to);
		add(&d->all, ev->seq, ev->addr, end);
	}
}

static void add_volatile(struct declared *d, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < d->volatiles.n; i++)
		if (d->volatiles.at[i].from == from && d->volatiles.at[i].to == to)
			return;
	*vec_add(&d->volatiles) = (struct declared_range){ from, to };
}

void declared_step(struct declared *d, const struct model *m, const struct trace_event *ev)
{
	struct declaration w = { d, m, ev->addr, ev->addr + ev->arg[0] };

	if (ev->kind == PMT_IGNORE)
		add_volatile(d, w.from, w.to);
	if (ev->kind == PMT_IGNORE || ev->kind == PMT_SET_CLEAN)
		model_each(m, ev->addr, ev->arg[0], note_store, &w);
	else if (trace_is_store(ev->kind))
		note_volatile(d, ev);
}

/* ---- at the end ---- */

static int compare(const void *a, const void *b)
{
	const struct declared_bytes *x = a, *y = b;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* Sorts the list and joins adjacent entries. */
static void sort(declared_list *list)
{
	size_t n = 0;

	if (list->n > 0)
		qsort(list->at, list->n, sizeof *list->at, compare);
	for (size_t i = 0; i < list->n; i++) {
		struct declared_bytes *last = n > 0 ? &list->at[n - 1] : NULL;

		if (!last || last->seq != list->at[i].seq || last->to < list->at[i].from)
			list->at[n++] = list->at[i];
		else if (last->to < list->at[i].to)
			last->to = list->at[i].to;
	}
	list->n = n;
}

void declared_end(struct declared *d)
{
	sort(&d->bytes);
	sort(&d->all);
}

bool declared_has(const declared_list *list, uint64_t seq, uint64_t from, uint64_t to)
{
	const struct declared_bytes key = { seq, from, to };
	size_t low = 0, high = list->n;

	while (low < high) { /* binary search: the first that begins behind it */
		const size_t middle = low + (high - low) / 2;

		if (compare(&list->at[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && list->at[low - 1].seq == seq && list->at[low - 1].to >= to;
}

void declared_each_whole(const struct declared *d, void (*f)(uint64_t seq, void *arg), void *arg)
{
	for (size_t i = 0, next; i < d->all.n; i = next) {
		bool is_whole = true;

		for (next = i; next < d->all.n && d->all.at[next].seq == d->all.at[i].seq; next++)
			is_whole &= declared_has(&d->bytes, d->all.at[next].seq,
						 d->all.at[next].from, d->all.at[next].to);
		if (is_whole)
			f(d->all.at[i].seq, arg);
	}
}

void declared_release(struct declared *d)
{
	vec_release(&d->volatiles);
	vec_release(&d->bytes);
	vec_release(&d->all);
}
