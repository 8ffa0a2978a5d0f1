/* Finds what a dump may print while operations of several threads are in flight. It is computed
 * once per stretch of the trace with the same operations in flight. It starts with the state before
 * the first of them (and before those that overlap with one), and applies the stores of each
 * operation, one operation after the other, in every possible order. What the dump then prints is
 * allowed. */
#include "crash/search/in_flight.h"

#include <string.h>

#include "crash/search/explorer.h"
#include "util/order.h"

#define TOGETHER_MAX 4    /* operations that overlap; 4! orders are tried */
#define STRETCHES_MAX 400 /* each costs a walk and some runs */

typedef VEC(const struct operation *) operations;

struct stage {
	const struct plan *plan;
	struct runner *runner;
	const struct recovery *recovery;
	operations flying, done; /* flying: may have taken effect; done: have taken effect */
	uint64_t begin_seq;      /* begin of the oldest */
	struct in_flight_stretch *stretch;
	struct dump_texts *texts;
};

static bool is_flying(const struct operation *o, uint64_t seq)
{
	return o->begin_seq < seq && seq <= o->end_seq;
}

/* ---- which operations to apply ---- */

static bool has(const operations *list, const struct operation *o)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i] == o)
			return true;
	return false;
}

/* Collects the operations in flight at the crash, and ended ones that overlap with a collected
 * one. */
static void gather(struct stage *s, uint64_t crash)
{
	const struct plan *p = s->plan;
	bool is_more = true;

	s->begin_seq = UINT64_MAX;
	for (size_t i = 0; i < p->operations.n; i++)
		if (is_flying(&p->operations.at[i], crash)) {
			*vec_add(&s->flying) = &p->operations.at[i];
			if (p->operations.at[i].begin_seq < s->begin_seq)
				s->begin_seq = p->operations.at[i].begin_seq;
		}
	while (is_more) {
		is_more = false;
		for (size_t i = 0; i < p->operations.n; i++) {
			const struct operation *o = &p->operations.at[i];

			if (o->end_seq >= crash || o->end_seq < s->begin_seq || has(&s->done, o))
				continue;
			*vec_add(&s->done) = o;
			if (o->begin_seq < s->begin_seq)
				s->begin_seq = o->begin_seq;
			is_more = true;
		}
	}
}

/* ---- applying them ---- */

static void apply(struct crash_image *im, const struct plan *p, const struct operation *o)
{
	struct trace *t = trace_cursor(p->trace);
	struct trace_event ev;

	while (trace_next(t, &ev) && ev.seq <= o->end_seq) {
		if (ev.seq <= o->begin_seq || ev.stream != o->stream || ev.thread != o->thread)
			continue;
		if (trace_is_store(ev.kind))
			image_write(im, ev.addr, ev.data, ev.size_bytes);
		else if (ev.kind == PMT_OLD)
			image_event(im, &ev);
	}
	trace_close(t);
}

/* Moves the walk so that it has the files right before an event, with all stores. */
static void files_at(struct walk *w, const struct plan *p, uint64_t seq)
{
	struct state_set set = { 0 };

	walk_init(w, p, WALK_BOUNDARIES);
	while (walk_next(w) && w->seq < seq)
		;
	states_collect_newest(&set, w->model);
	for (size_t i = 0; i < set.lines.n; i++) {
		const struct state_line *l = &set.lines.at[i];

		image_write(&w->image, l->addr, state_content(&set, l, l->ncontents - 1),
			    set.line_bytes);
	}
	states_release(&set);
}

static int try_order(struct stage *s, const operations *order, struct error *err)
{
	struct state_set none = { .line_bytes = s->plan->platform->line_bytes };
	struct verdict v = { 0 };
	struct walk w;
	int result;

	files_at(&w, s->plan, s->begin_seq);
	for (size_t i = 0; i < order->n; i++)
		apply(&w.image, s->plan, order->at[i]);
	runner_load(s->runner, &w.image, &none);
	if (s->recovery->has_operation)
		runner_set_operation(s->runner,
				     recovery_operation(s->recovery, s->plan, s->begin_seq) +
					     order->n);
	runner_begin(s->runner, NULL, false);
	result = verdict_run(&v, s->runner, s->recovery, NULL, err);
	if (result == 0 && v.kind == VERDICT_OK)
		allowed_add(&s->stretch->allowed, v.dump_hash);
	if (result == 0 && v.kind == VERDICT_OK && s->texts)
		dump_texts_add(s->texts, v.dump_hash, v.result.output, v.result.output_len);
	walk_release(&w);
	return result;
}

/* Can o come next? Only if every operation that ended before o began has come. */
static bool may_follow(const operations *order, const operations *all, const struct operation *o)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->end_seq < o->begin_seq && !has(order, all->at[i]))
			return false;
	return true;
}

static int try_orders(struct stage *s, operations *order, const operations *all, struct error *err)
{
	if (order->n == all->n)
		return try_order(s, order, err);
	for (size_t i = 0; i < all->n; i++) {
		if (has(order, all->at[i]) || !may_follow(order, all, all->at[i]))
			continue;
		*vec_add(order) = all->at[i];
		if (try_orders(s, order, all, err) < 0)
			return -1;
		order->n--;
	}
	return 0;
}

/* Tries every subset of the operations in flight, always with all that were done. */
static int try_subsets(struct stage *s, struct error *err)
{
	operations all = { 0 }, order = { 0 };
	int result = 0;

	for (uint32_t subset = 0; subset < (uint32_t)1 << s->flying.n && result == 0; subset++) {
		all.n = order.n = 0;
		for (size_t i = 0; i < s->done.n; i++)
			*vec_add(&all) = s->done.at[i];
		for (size_t i = 0; i < s->flying.n; i++)
			if (subset >> i & 1)
				*vec_add(&all) = s->flying.at[i];
		result = try_orders(s, &order, &all, err);
	}
	vec_release(&all);
	vec_release(&order);
	return result;
}

/* ---- stretches ---- */

static size_t count_flying(const struct plan *p, uint64_t seq)
{
	size_t n = 0;

	for (size_t i = 0; i < p->operations.n; i++)
		n += is_flying(&p->operations.at[i], seq);
	return n;
}

static int take_one(struct in_flight *f, const struct plan *p, struct runner *runner,
		    const struct recovery *c, struct dump_texts *texts, uint64_t first,
		    uint64_t last, struct error *err)
{
	struct stage s = { .plan = p, .runner = runner, .recovery = c, .texts = texts };
	int result = 0;

	s.stretch = vec_add(&f->list);
	*s.stretch = (struct in_flight_stretch){ .first_seq = first, .last_seq = last };
	gather(&s, last);
	if (s.flying.n + s.done.n <= TOGETHER_MAX && f->list.n <= STRETCHES_MAX)
		result = try_subsets(&s, err);
	vec_release(&s.flying);
	vec_release(&s.done);
	return result;
}

int in_flight_take(struct in_flight *f, const struct plan *p, struct runner *runner,
		   const struct recovery *c, struct dump_texts *texts, uint64_t deadline_ns,
		   struct error *err)
{
	VEC(uint64_t) bounds = { 0 };
	int result = 0;

	*f = (struct in_flight){ 0 };
	for (size_t i = 0; i < p->operations.n; i++) {
		*vec_add(&bounds) = p->operations.at[i].begin_seq;
		*vec_add(&bounds) = p->operations.at[i].end_seq;
	}
	if (bounds.n > 0)
		qsort(bounds.at, bounds.n, sizeof *bounds.at, order_u64);
	for (size_t i = 0;
	     i + 1 < bounds.n && result == 0 && (!deadline_ns || clock_ns() < deadline_ns); i++)
		if (bounds.at[i] < bounds.at[i + 1] && count_flying(p, bounds.at[i + 1]) > 1)
			result = take_one(f, p, runner, c, texts, bounds.at[i], bounds.at[i + 1],
					  err);
	vec_release(&bounds);
	return result;
}

void in_flight_release(struct in_flight *f)
{
	for (size_t i = 0; i < f->list.n; i++)
		vec_release(&f->list.at[i].allowed.hashes);
	vec_release(&f->list);
}

const struct in_flight_stretch *in_flight_find(const struct in_flight *f, uint64_t seq)
{
	for (size_t i = 0; i < f->list.n; i++)
		if (f->list.at[i].first_seq < seq && seq <= f->list.at[i].last_seq)
			return &f->list.at[i];
	return NULL;
}
