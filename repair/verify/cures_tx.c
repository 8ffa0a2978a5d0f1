/* Tries transactions: finds the smallest interval of one thread such that recovery succeeds on
 * every state around the failure if the interval's stores become durable at once. What fixed
 * another bug is tried first. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "repair/verify/cures_internal.h"
#include "util/alloc.h"

struct numbers {
	VEC(uint32_t) list;
};

static bool has_number(const struct numbers *all, uint32_t n)
{
	for (size_t i = 0; i < all->list.n; i++)
		if (all->list.at[i] == n)
			return true;
	return false;
}

/* Lists the call paths of the interval's stores. */
static void list_stores(struct cures *c, const struct whatif_interval *v, struct repair_cure *out)
{
	struct trace *t = trace_cursor(c->plan->trace);
	struct numbers seen = { 0 };
	struct repair_place *list;
	struct trace_event ev;

	while (trace_next(t, &ev) && ev.seq <= v->last_seq) {
		uint32_t place = trace_is_store(ev.kind) ? whatif_place(&c->whatif, ev.site) : 0;

		if (place && ev.seq >= v->first_seq && ev.stream == v->stream &&
		    ev.thread == v->thread && !has_number(&seen, place))
			*vec_add(&seen.list) = place;
	}
	trace_close(t);
	list = xcalloc(seen.list.n + 1, sizeof *list);
	for (size_t i = 0; i < seen.list.n; i++)
		list[i] = c->places.observed.at[seen.list.at[i] - 1];
	*vec_add(&c->lists) = list;
	out->stores = list;
	out->nstores = seen.list.n;
	vec_release(&seen.list);
}

/* Finds the thread of a bug's first store. */
static void find_thread(const struct cures *c, uint64_t seq, uint32_t *stream, uint32_t *thread)
{
	struct trace *t = trace_cursor(c->plan->trace);
	struct trace_event ev = { 0 };

	while (trace_next(t, &ev) && ev.seq < seq)
		;
	*stream = ev.stream;
	*thread = ev.thread;
	trace_close(t);
}

static void decline_interval(struct cures *c, const struct candidate *x,
			     const struct cure_steps *steps)
{
	if (steps->list.n == 0)
		cures_decline(
			c, x->bug,
			xstrdup("no stores of the thread around the failure can be made atomic: the layout of the data must change"));
	else
		cures_decline(
			c, x->bug,
			xasprintf(
				"neither flushes and fences nor a transaction between two acknowledgements fix it: recovery fails (%s) even if all %zu steps from event %" PRIu64
				" to %" PRIu64 " become durable at once; the design must change",
				c->judge.outcome, steps->list.n, steps->list.at[0].first_seq,
				steps->list.at[steps->list.n - 1].last_seq));
}

struct failing {
	const struct cures *c;
	size_t bug;
};

static void on_failure(uint64_t first_seq, uint64_t last_seq, void *arg)
{
	const struct failing *f = arg;
	char *what =
		xasprintf("a transaction of events %" PRIu64 " to %" PRIu64, first_seq, last_seq);

	cures_tell_failure(f->c, f->bug, what);
	free(what);
}

static int try_interval(struct cures *c, struct candidate *x, struct error *err)
{
	const struct bug *b = report_bug(c->report, x->bug);
	struct repair_cure *cure = &c->bugs[x->bug]->cure;
	struct cure_steps steps = { 0 };
	struct failing failing = { c, x->bug };
	size_t first = 0, last = 0, nbefore = c->whatif.intervals.n;
	uint32_t stream, thread;
	int found;

	find_thread(c, b->first_seq, &stream, &thread);
	cure_steps_find(&steps, c->plan, &c->whatif, &x->window, x->seq, stream, thread);
	c->judge.judge.on_failure = on_failure;
	c->judge.judge.on_failure_arg = &failing;
	found = cure_interval_find(&x->window, c->plan, &c->whatif, &steps, &c->judge.judge, &first,
				   &last, err);
	if (found == 0)
		decline_interval(c, x, &steps);
	if (found > 0) {
		*cure = (struct repair_cure){ .kind = first == last && steps.list.at[first].is_tx
							      ? CURE_LOG
							      : CURE_TX,
					      .observed = c->places.observed.at,
					      .nobserved = c->places.observed.n };
		/* the other intervals are further executions of it */
		list_stores(c, &c->whatif.intervals.at[nbefore], cure);
	}
	c->judge.judge.on_failure = NULL;
	vec_release(&steps.list);
	return found < 0 ? -1 : 0;
}

/* Tries whether the cures of other bugs fix this one, too. */
static int try_others(struct cures *c, struct candidate *x, struct error *err)
{
	int holds;

	if (c->whatif.intervals.n == 0 && c->whatif.barriers.n == 0)
		return 0;
	holds = cure_holds(&x->window, c->plan, &c->whatif, NULL, &c->judge.judge, err);
	for (size_t i = 0; holds > 0 && i < c->candidates.n; i++) {
		const struct candidate *o = &c->candidates.at[i];
		enum repair_cure_kind kind = c->bugs[o->bug]->cure.kind;

		if (o == x || !o->is_done || kind == CURE_NONE || kind == CURE_WITH_OTHER ||
		    o->window.last_seq < x->window.first_seq ||
		    x->window.last_seq < o->window.first_seq)
			continue;
		c->bugs[x->bug]->cure =
			(struct repair_cure){ .kind = CURE_WITH_OTHER, .other = o->bug };
		x->is_done = true;
		return 0;
	}
	if (holds == 0)
		cures_tell_failure(c, x->bug, "the fixes of the bugs before it");
	return holds < 0 ? -1 : 0;
}

int cures_try_transactions(struct cures *c, struct error *err)
{
	for (size_t i = 0; i < c->candidates.n; i++) {
		struct candidate *x = &c->candidates.at[i];

		if (!x->is_done && try_others(c, x, err) < 0)
			return -1;
		if (!x->is_done && try_interval(c, x, err) < 0)
			return -1;
		x->is_done = true;
	}
	return 0;
}
