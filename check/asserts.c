/* The oracle assert-durable reports where PMEND_ASSERT_DURABLE says that bytes are durable now, and
 * they are not. The finding names the assertion and a store that is not durable. */
#include "check/oracle.h"

#include <stdlib.h>

#include "util/alloc.h"

static const char KIND[] = "assert-durable";

static void *asserts_begin(void)
{
	return xcalloc(1, 1);
}

struct walk {
	struct check *check;
	struct finding *f;
	/* some bytes may be lost, but the program declared that this does not matter */
	bool is_declared;
};

static void note_store(const struct model_store *s, void *arg)
{
	struct walk *w = arg;

	if (s->is_overwritten)
		return;
	if (check_is_ignored(w->check, s->addr, s->size_bytes))
		w->is_declared = true;
	else if (w->f->nplaces == 1)
		w->f->places[w->f->nplaces++] = (struct finding_place){ "store", s->site };
}

static void asserts_step(void *state, struct check *c, const struct trace_event *ev)
{
	struct finding f = {
		.kind = KIND,
		.message = "PMEND_ASSERT_DURABLE fails: a store to this range may still be lost",
		.first_seq = ev->seq,
		.nplaces = 1,
		.places = { { "assert", ev->site } }
	};
	struct walk w = { c, &f, false };

	(void)state;
	if (ev->kind != PMT_ASSERT_DURABLE ||
	    model_is_durable(check_model(c), ev->addr, ev->arg[0]))
		return;
	model_each(check_model(c), ev->addr, ev->arg[0], note_store, &w);
	if (f.nplaces > 1 || !w.is_declared)
		check_report(c, &f);
}

const struct oracle oracle_asserts = {
	.name = "asserts",
	.help = "the program's own assertions: assert-durable",
	.begin = asserts_begin,
	.step = asserts_step,
	.end = free,
};
