/* The oracle overwrite-unpersisted reports values that are overwritten before they were guaranteed
 * to be durable. This is often intended, so the oracle is off by default. */
#include "check/oracle.h"

#include <stdlib.h>

#include "util/alloc.h"

static const char KIND[] = "overwrite-unpersisted";

static void *overwrite_begin(void)
{
	return xcalloc(1, 1);
}

struct walk {
	struct check *check;
	const struct trace_event *ev;
};

static void judge_store(const struct model_store *s, void *arg)
{
	const struct walk *w = arg;
	struct finding f = { .kind = KIND,
			     .message = "this value is overwritten before it is durable",
			     .nplaces = 2 };

	if (s->is_overwritten || s->addr >= w->ev->addr + w->ev->size_bytes ||
	    s->addr + s->size_bytes <= w->ev->addr ||
	    check_is_ignored(w->check, s->addr, s->size_bytes))
		return;
	if (check_is_runtime_code(w->ev->site) && s->site && s->site->node == w->ev->site->node)
		return; /* memcpy and similar functions store some bytes twice */
	f.first_seq = s->seq;
	f.places[0] = (struct finding_place){ "store", s->site };
	f.places[1] = (struct finding_place){ "store", w->ev->site };
	check_report(w->check, &f);
}

static void overwrite_step(void *state, struct check *c, const struct trace_event *ev)
{
	struct walk w = { c, ev };

	(void)state;
	if (trace_kinds[ev->kind].carries & PMT_HAS_VALUE)
		model_each(check_model(c), ev->addr, ev->size_bytes, judge_store, &w);
}

const struct oracle oracle_overwrite = {
	.name = "overwrite",
	.help = "a value overwritten before it was durable: overwrite-unpersisted (only with --with overwrite)",
	.is_optional = true,
	.classes = EVENT_STORE,
	.begin = overwrite_begin,
	.step = overwrite_step,
	.end = free,
};
