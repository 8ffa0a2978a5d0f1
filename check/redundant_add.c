/* The oracle tx-redundant-add reports where the program asks a transaction to log bytes that it has
 * logged or allocated before. PMDK announces both with TX_ADD and skips what it has already, so the
 * request itself is judged, TX_ADD_CALL. Nested transactions belong to the outermost one. A PMEMoid
 * names its pool by a number. The pool's address is learned from the first call that is followed by
 * a TX_ADD for all of its bytes. Until then, and in later parts of a pool set, such ranges are
 * compared only with each other. */
#include "check/oracle.h"

#include <stdlib.h>
#include <string.h>

#include "check/ranges.h"
#include "util/alloc.h"
#include "util/vec.h"

static const char KIND[] = "tx-redundant-add";

struct pool {
	uint64_t uuid;
	/* PM address of the pool's first byte; until it is known, an address that no file has */
	uint64_t base;
	bool is_known;
};

struct tx {
	uint32_t stream, thread, depth;
	struct ranges logged;
	/* of the call that was the thread's last event; uuid is 0 if it was no call */
	uint64_t uuid, offset, len_bytes;
};

struct state {
	VEC(struct tx) open; /* few at a time */
	VEC(struct pool) pools;
};

static void *redundant_begin(void)
{
	return xcalloc(1, sizeof(struct state));
}

static void redundant_end(void *arg)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->open.n; i++)
		ranges_release(&s->open.at[i].logged);
	vec_release(&s->open);
	vec_release(&s->pools);
	free(s);
}

static struct tx *tx_find(struct state *s, const struct trace_event *ev)
{
	for (size_t i = 0; i < s->open.n; i++)
		if (s->open.at[i].stream == ev->stream && s->open.at[i].thread == ev->thread)
			return &s->open.at[i];
	return NULL;
}

static void tx_begin(struct state *s, const struct trace_event *ev)
{
	struct tx *tx = tx_find(s, ev);

	if (!tx) {
		tx = vec_add(&s->open);
		*tx = (struct tx){ .stream = ev->stream, .thread = ev->thread };
	}
	tx->depth++;
}

static void tx_end(struct state *s, const struct trace_event *ev)
{
	struct tx *tx = tx_find(s, ev);

	if (!tx || --tx->depth > 0)
		return;
	ranges_release(&tx->logged);
	*tx = s->open.at[--s->open.n];
}

static struct pool *pool_find(struct state *s, uint64_t uuid)
{
	struct pool *p;

	for (size_t i = 0; i < s->pools.n; i++)
		if (s->pools.at[i].uuid == uuid)
			return &s->pools.at[i];
	p = vec_add(&s->pools);
	/* real files have small numbers */
	*p = (struct pool){ .uuid = uuid,
			    .base = PMT_ADDR(UINT32_MAX >> 12, 0) - PMT_ADDR(s->pools.n, 0) };
	return p;
}

static void note_add(struct state *s, struct tx *tx, const struct trace_event *ev)
{
	uint64_t base = ev->addr - tx->offset;

	if (tx->uuid && tx->len_bytes == ev->arg[0] && PMT_OFFSET(base) == 0) {
		struct pool *p = pool_find(s, tx->uuid);

		p->base = base;
		p->is_known = true;
	}
	ranges_add(&tx->logged, ev->addr, ev->arg[0]);
}

/* Is the call inside PMDK? What PMDK logs for itself is not the program's doing. */
static bool is_inside_pmdk(const struct trace_site *site)
{
	const struct trace_object *caller = site && site->node ? site->node->object : NULL;
	const char *base = caller ? strrchr(caller->path, '/') : NULL;

	return base && strncmp(base, "/libpmemobj.so", 14) == 0;
}

static void judge_call(struct state *s, struct check *c, struct tx *tx,
		       const struct trace_event *ev)
{
	struct finding f = {
		.kind = KIND,
		.message = "this transaction has already logged or allocated all of these bytes",
		.first_seq = ev->seq,
		.nplaces = 1,
		.places = { { "tx", ev->site } }
	};
	uint64_t len_bytes = ev->arg[0], addr = ev->arg[2];

	if (ev->arg[1]) {
		const struct pool *p = pool_find(s, ev->arg[1]);

		addr += p->base;
		if (!p->is_known) {
			tx->uuid = ev->arg[1];
			tx->offset = ev->arg[2];
			tx->len_bytes = len_bytes;
		}
	}
	if (len_bytes && ranges_cover(&tx->logged, addr, len_bytes) && !is_inside_pmdk(ev->site))
		check_report(c, &f);
	ranges_add(&tx->logged, addr, len_bytes);
}

static void redundant_step(void *arg, struct check *c, const struct trace_event *ev)
{
	struct state *s = arg;
	struct tx *tx = s->open.n ? tx_find(s, ev) : NULL;

	switch (ev->kind) {
	case PMT_TX_BEGIN:
		if (ev->arg[0] == 0)
			tx_begin(s, ev);
		break;
	case PMT_TX_END:
		if (ev->arg[0] == 0)
			tx_end(s, ev);
		return;
	case PMT_TX_ADD:
		if (tx && ev->arg[1] == 0)
			note_add(s, tx, ev);
		break;
	case PMT_TX_REMOVE:
		if (tx && ev->arg[1] == 0)
			ranges_remove(&tx->logged, ev->addr, ev->arg[0]);
		break;
	case PMT_TX_ADD_CALL:
		if (tx) {
			tx->uuid = 0;
			judge_call(s, c, tx, ev);
		}
		return;
	default: break; /* not about the log of a transaction */
	}
	if (tx)
		tx->uuid = 0;
}

static bool redundant_is_asleep(const void *state, const struct check *c)
{
	(void)c;
	return ((const struct state *)state)->open.n == 0;
}

const struct oracle oracle_redundant_add = {
	.name = "redundant-add",
	.help = "ranges that a PMDK transaction logged already: tx-redundant-add",
	.classes = EVENT_STORE | EVENT_FLUSH | EVENT_FENCE,
	.is_asleep = redundant_is_asleep,
	.begin = redundant_begin,
	.step = redundant_step,
	.end = redundant_end,
};
