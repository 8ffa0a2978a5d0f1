/* Checks transactions by the events that PMDK sends. tx-missing-add: a store inside a transaction
 * to memory that was neither logged nor allocated in it (PMDK announces both with the same event),
 * and is not exempt. tx-not-ended: a transaction that is still open at the end of the operation in
 * which it began, or at the end of a program that succeeded. */
#include "check/oracle.h"

#include <stdlib.h>

#include "check/ranges.h"
#include "util/alloc.h"
#include "util/vec.h"

static const char KIND[] = "tx-missing-add";
static const char ADDED_LATE[] =
	"stored inside a transaction before this memory is added to it: the log already has the new value, so an "
	"abort or crash will not roll it back";

/* A store that was not logged. It is reported when the transaction ends, because until then the
 * program may declare that it does not matter. */
struct missed {
	struct finding finding;
	uint64_t addr, len_bytes;
};

#define MISSED_MAX 4096u /* per transaction; further stores are reported at once */

struct tx {
	uint32_t stream, thread;
	uint64_t id; /* 0: the thread's own */
	uint32_t depth;
	/* changed: logged bytes that the program stored to; libpmemobj removes them from the log
	 * when it commits or aborts */
	struct ranges logged, changed;
	/* the transaction has committed or aborted: stores until TX_END (TX_ONCOMMIT, TX_FINALLY)
	 * are outside */
	bool is_over;
	VEC(struct missed) missed;
	uint64_t begin_seq;
	const struct trace_site *begin;
	bool is_reported; /* reported as not ended */
};

/* An operation in progress. */
struct operation {
	uint32_t stream, thread;
	uint64_t begin_seq;
};

struct state {
	VEC(struct tx) open; /* few at a time */
	VEC(struct operation) operations;
	struct ranges exempt;
};

static void *transactions_begin(void)
{
	return xcalloc(1, sizeof(struct state));
}

static void transactions_end(void *arg)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->open.n; i++) {
		ranges_release(&s->open.at[i].logged);
		ranges_release(&s->open.at[i].changed);
		vec_release(&s->open.at[i].missed);
	}
	vec_release(&s->open);
	vec_release(&s->operations);
	ranges_release(&s->exempt);
	free(s);
}

static struct tx *find(struct state *s, const struct trace_event *ev, uint64_t id)
{
	for (size_t i = 0; i < s->open.n; i++) {
		struct tx *tx = &s->open.at[i];

		if (tx->stream == ev->stream && tx->id == id &&
		    (id != 0 || tx->thread == ev->thread))
			return tx;
	}
	return NULL;
}

static void begin_tx(struct state *s, const struct trace_event *ev)
{
	struct tx *tx = find(s, ev, ev->arg[0]);

	if (!tx) {
		tx = vec_add(&s->open);
		*tx = (struct tx){ .stream = ev->stream,
				   .thread = ev->thread,
				   .id = ev->arg[0],
				   .begin_seq = ev->seq,
				   .begin = ev->site };
	}
	tx->depth++;
}

static void report_missed(struct check *c, struct tx *tx)
{
	for (size_t i = 0; i < tx->missed.n; i++)
		check_report(c, &tx->missed.at[i].finding);
	tx->missed.n = 0;
}

/* Drops missed stores to bytes that SET_CLEAN or similar requests declare. */
static void excuse(struct state *s, const struct trace_event *ev)
{
	uint64_t from = ev->addr, to = range_in_file(ev->addr, ev->arg[0]).to;

	for (size_t i = 0; i < s->open.n; i++) {
		struct tx *tx = &s->open.at[i];
		size_t kept = 0;

		for (size_t k = 0; k < tx->missed.n; k++)
			if (tx->missed.at[k].addr < from ||
			    tx->missed.at[k].addr + tx->missed.at[k].len_bytes > to)
				tx->missed.at[kept++] = tx->missed.at[k];
		tx->missed.n = kept;
	}
}

/* Says of stores that were missed so far that the log has their value. */
static void add_late(struct tx *tx, const struct trace_event *ev)
{
	const uint64_t from = ev->addr, to = range_in_file(ev->addr, ev->arg[0]).to;

	for (size_t i = 0; i < tx->missed.n; i++) {
		struct missed *m = &tx->missed.at[i];

		if (from <= m->addr && m->addr + m->len_bytes <= to)
			m->finding.message = ADDED_LATE;
	}
}

static void end_tx(struct state *s, struct check *c, const struct trace_event *ev)
{
	struct tx *tx = find(s, ev, ev->arg[0]);

	if (!tx || --tx->depth > 0)
		return;
	report_missed(c, tx);
	ranges_release(&tx->logged);
	ranges_release(&tx->changed);
	vec_release(&tx->missed);
	*tx = s->open.at[--s->open.n];
}

/* ---- transactions that are not ended ---- */

static const char OPEN_AFTER_OPERATION[] =
	"the transaction that begins here is still open when the operation ends; a crash then undoes an operation "
	"that was reported done";
static const char OPEN_AT_EXIT[] =
	"the transaction that begins here is still open when the program ends; its changes are undone when the pool is "
	"opened again";

static void report_open(struct check *c, struct tx *tx, const char *message)
{
	struct finding f = { .kind = "tx-not-ended",
			     .message = message,
			     .first_seq = tx->begin_seq,
			     .nplaces = 1,
			     .places = { { "tx", tx->begin } } };

	if (tx->is_reported)
		return;
	tx->is_reported = true;
	check_report(c, &f);
}

static void end_operation(struct state *s, struct check *c, const struct trace_event *ev)
{
	size_t i = s->operations.n;

	while (i > 0 && (s->operations.at[i - 1].stream != ev->stream ||
			 s->operations.at[i - 1].thread != ev->thread))
		i--;
	if (i == 0)
		return;
	for (size_t k = 0; k < s->open.n; k++) {
		struct tx *tx = &s->open.at[k];

		if (tx->id == 0 && tx->stream == ev->stream && tx->thread == ev->thread &&
		    tx->begin_seq > s->operations.at[i - 1].begin_seq)
			report_open(c, tx, OPEN_AFTER_OPERATION);
	}
	for (; i < s->operations.n; i++)
		s->operations.at[i - 1] = s->operations.at[i];
	s->operations.n--;
}

/* Reports transactions at the end of the program. If the program failed or was killed, it had no
 * chance to end them. */
static void end_program(struct state *s, struct check *c, const struct trace_event *ev)
{
	for (size_t k = 0; ev->arg[0] == 0 && k < s->open.n; k++)
		if (s->open.at[k].id == 0 && s->open.at[k].stream == ev->stream)
			report_open(c, &s->open.at[k], OPEN_AT_EXIT);
}

/* ---- stores ---- */

static void remove_logged(struct tx *tx, const struct trace_event *ev)
{
	const bool was_changed = tx->changed.list.n > 0;

	ranges_remove(&tx->logged, ev->addr, ev->arg[0]);
	if (!check_is_pmdk_code(ev->site))
		return;
	ranges_remove(&tx->changed, ev->addr, ev->arg[0]);
	tx->is_over |= was_changed && tx->changed.list.n == 0;
}

static void judge_store(struct state *s, struct check *c, const struct trace_event *ev)
{
	struct finding f = {
		.kind = KIND,
		.message =
			"stored inside a transaction to memory that was not added to it: an abort or crash will "
			"not roll it back",
		.first_seq = ev->seq,
		.addr = ev->addr,
		.nplaces = 1,
		.places = { { "store", ev->site } }
	};
	struct tx *tx = find(s, ev, 0);

	if (!tx)
		return;
	if (ranges_cover(&tx->logged, ev->addr, ev->size_bytes)) {
		if (!check_is_pmdk_code(ev->site)) {
			ranges_add(&tx->changed, ev->addr, ev->size_bytes);
			tx->is_over = false;
		}
		return;
	}
	if (tx->is_over || ranges_cover(&s->exempt, ev->addr, ev->size_bytes) ||
	    check_is_ignored(c, ev->addr, ev->size_bytes))
		return;
	if (tx->missed.n == MISSED_MAX)
		report_missed(c, tx);
	*vec_add(&tx->missed) = (struct missed){ f, ev->addr, ev->size_bytes };
}

static void transactions_step(void *arg, struct check *c, const struct trace_event *ev)
{
	struct state *s = arg;
	struct tx *tx;

	switch (ev->kind) {
	case PMT_TX_BEGIN: begin_tx(s, ev); break;
	case PMT_TX_END: end_tx(s, c, ev); break;
	case PMT_TX_ADD:
		tx = find(s, ev, ev->arg[1]);
		if (tx) {
			ranges_add(&tx->logged, ev->addr, ev->arg[0]);
			add_late(tx, ev);
		}
		break;
	case PMT_TX_REMOVE:
		tx = find(s, ev, ev->arg[1]);
		if (tx)
			remove_logged(tx, ev);
		break;
	case PMT_OP_BEGIN:
		*vec_add(&s->operations) = (struct operation){ ev->stream, ev->thread, ev->seq };
		break;
	case PMT_OP_END: end_operation(s, c, ev); break;
	case PMT_EXIT: end_program(s, c, ev); break;
	case PMT_TX_IGNORE:
		ranges_add(&s->exempt, ev->addr, ev->arg[0]);
		excuse(s, ev);
		break;
	case PMT_SET_CLEAN:
	case PMT_IGNORE:
	case PMT_NOT_PM: excuse(s, ev); break;
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

static void transactions_finish(void *arg, struct check *c)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->open.n; i++)
		report_missed(c, &s->open.at[i]);
}

static bool transactions_is_asleep(const void *state, const struct check *c)
{
	(void)c;
	return ((const struct state *)state)->open.n == 0;
}

const struct oracle oracle_transactions = {
	.name = "transactions",
	.help = "misuse of PMDK's transactions: tx-missing-add, tx-not-ended",
	.classes = EVENT_STORE,
	.is_asleep = transactions_is_asleep,
	.begin = transactions_begin,
	.step = transactions_step,
	.finish = transactions_finish,
	.end = transactions_end,
};
