/* assert-durable: PMEND_ASSERT_DURABLE says that bytes are durable now, and they are not.
 * The finding names the assertion and a store that is not durable. */
#include "check/oracle.h"

#include <stdlib.h>

#include "util/alloc.h"

static const char KIND[] = "assert-durable";

static void *asserts_begin(void)
{
	return xcalloc(1, 1);
}

static void note_store(const struct model_store *s, void *arg)
{
	struct finding *f = arg;

	if (f->nplaces == 1 && !s->is_overwritten)
		f->places[f->nplaces++] = (struct finding_place){ "store", s->site };
}

static void asserts_step(void *state, struct check *c, const struct trace_event *ev)
{
	struct finding f = { .kind = KIND,
			     .message = "asserted to be durable, but a store is not",
			     .first_seq = ev->seq,
			     .nplaces = 1,
			     .places = { { "assert", ev->site } } };

	(void)state;
	if (ev->kind != PMT_ASSERT_DURABLE || model_is_durable(check_model(c), ev->addr, ev->arg[0]))
		return;
	model_each(check_model(c), ev->addr, ev->arg[0], note_store, &f);
	check_report(c, &f);
}

const struct oracle oracle_asserts = {
	.name = "asserts",
	.help = "the program's own assertions: assert-durable",
	.begin = asserts_begin,
	.step = asserts_step,
	.end = free,
};
