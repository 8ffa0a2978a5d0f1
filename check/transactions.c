/* Transactions, from the events that PMDK sends: tx-missing-add, a store inside a transaction to memory that was neither logged
 * nor allocated in it (PMDK announces both with the same event), nor is exempt. */
#include "check/oracle.h"

#include <stdlib.h>

#include "check/ranges.h"
#include "util/alloc.h"
#include "util/vec.h"

static const char KIND[] = "tx-missing-add";

struct tx {
	uint32_t stream, thread;
	uint64_t id; /* 0: the thread's own */
	uint32_t depth;
	struct ranges logged;
};

struct state {
	VEC(struct tx) open; /* few at a time */
	struct ranges exempt;
};

static void *transactions_begin(void)
{
	return xcalloc(1, sizeof(struct state));
}

static void transactions_end(void *arg)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->open.n; i++)
		ranges_release(&s->open.at[i].logged);
	vec_release(&s->open);
	ranges_release(&s->exempt);
	free(s);
}

static struct tx *find(struct state *s, const struct trace_event *ev, uint64_t id)
{
	for (size_t i = 0; i < s->open.n; i++) {
		struct tx *tx = &s->open.at[i];

		if (tx->stream == ev->stream && tx->id == id && (id != 0 || tx->thread == ev->thread))
			return tx;
	}
	return NULL;
}

static void begin_tx(struct state *s, const struct trace_event *ev)
{
	struct tx *tx = find(s, ev, ev->arg[0]);

	if (!tx) {
		tx = vec_add(&s->open);
		*tx = (struct tx){ .stream = ev->stream, .thread = ev->thread, .id = ev->arg[0] };
	}
	tx->depth++;
}

static void end_tx(struct state *s, const struct trace_event *ev)
{
	struct tx *tx = find(s, ev, ev->arg[0]);

	if (!tx || --tx->depth > 0)
		return;
	ranges_release(&tx->logged);
	*tx = s->open.at[--s->open.n];
}

static void judge_store(struct state *s, struct check *c, const struct trace_event *ev)
{
	struct finding f = { .kind = KIND,
			     .message = "stored inside a transaction to memory that was not added to it: an abort or crash will "
					"not roll it back",
			     .first_seq = ev->seq,
			     .nplaces = 1,
			     .places = { { "store", ev->site } } };
	const struct tx *tx = find(s, ev, 0);

	if (!tx || ranges_cover(&tx->logged, ev->addr, ev->size_bytes) ||
	    ranges_cover(&s->exempt, ev->addr, ev->size_bytes) || check_is_ignored(c, ev->addr, ev->size_bytes))
		return;
	check_report(c, &f);
}

static void transactions_step(void *arg, struct check *c, const struct trace_event *ev)
{
	struct state *s = arg;
	struct tx *tx;

	switch (ev->kind) {
	case PMT_TX_BEGIN: begin_tx(s, ev); break;
	case PMT_TX_END: end_tx(s, ev); break;
	case PMT_TX_ADD:
		tx = find(s, ev, ev->arg[1]);
		if (tx)
			ranges_add(&tx->logged, ev->addr, ev->arg[0]);
		break;
	case PMT_TX_REMOVE:
		tx = find(s, ev, ev->arg[1]);
		if (tx)
			ranges_remove(&tx->logged, ev->addr, ev->arg[0]);
		break;
	case PMT_TX_IGNORE: ranges_add(&s->exempt, ev->addr, ev->arg[0]); break;
	case PMT_STORE:
	case PMT_STORE_NT:
	case PMT_STORE_RMW:
	case PMT_STORE_PAIR:
	case PMT_STORE_VECTOR:
	case PMT_STORE_ORDERED:
		if (s->open.n)
			judge_store(s, c, ev);
		break;
	default: break; /* not about transactions */
	}
}

const struct oracle oracle_transactions = {
	.name = "transactions",
	.help = "misuse of PMDK's transactions: tx-missing-add",
	.begin = transactions_begin,
	.step = transactions_step,
	.end = transactions_end,
};
