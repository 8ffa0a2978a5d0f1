/* Finds stores that pmemcheck's SET_CLEAN or PMEND_IGNORE names. SET_CLEAN is about what is stored already and not durable; PMEND_IGNORE also about what
 * comes. */
#include "crash/states/declared.h"

struct declaration {
	struct declared *d;
	uint64_t from, to;
};

static void note_store(const struct model_store *s, void *arg)
{
	const struct declaration *w = arg;

	if (s->addr >= w->from && s->addr + s->size_bytes <= w->to)
		*vec_add(&w->d->seqs) = s->seq;
}

static bool is_volatile(const struct declared *d, const struct trace_event *ev)
{
	for (size_t i = 0; i < d->volatiles.n; i++)
		if (ev->addr >= d->volatiles.at[i].from && ev->addr + ev->size_bytes <= d->volatiles.at[i].to)
			return true;
	return false;
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
	struct declaration w = { d, ev->addr, ev->addr + ev->arg[0] };

	if (ev->kind == PMT_IGNORE)
		add_volatile(d, w.from, w.to);
	if (ev->kind == PMT_IGNORE || ev->kind == PMT_SET_CLEAN)
		model_each(m, ev->addr, ev->arg[0], note_store, &w);
	else if (trace_is_store(ev->kind) && is_volatile(d, ev))
		*vec_add(&d->seqs) = ev->seq;
}

void declared_release(struct declared *d)
{
	vec_release(&d->volatiles);
	vec_release(&d->seqs);
}
