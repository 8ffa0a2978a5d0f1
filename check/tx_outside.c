/* The oracle tx-store-outside reports stores outside any transaction to memory that elsewhere is
 * modified only inside transactions.
 *
 * Memory counts as such from the moment when the program stored to it in a transaction that had
 * logged it (not: allocated it), until it is freed; earlier stores are initialisation. A store
 * outside is no bug by itself: PMDK's atomic operations make them, and a program may do the same
 * with care. So one of two things must be wrong, too:
 *
 *   unpersisted  Nothing outside a transaction ever writes it back: at best, the commit of a later
 *                transaction does.
 *   torn         Words that a transaction changed together are stored without a fence in between,
 *                so that a crash can keep one and lose the other, and nothing that the thread does
 *                next makes them valid as a whole: no single word that is stored and fenced alone
 *                (a commit variable), no atomic operation of PMDK, and no transaction that stores
 *                to something which the first transaction did not change.
 *
 * Words that the program also changes outside in the right way are not "modified only inside", and
 * exempt. Limits: an object that was allocated without a header looks as if it had been logged; a
 * word whose value does not change counts as changed. Memory grows with the words that transactions
 * changed. */
#include "check/oracle.h"

#include <stdlib.h>

#include "check/torn.h"
#include "util/alloc.h"
#include "util/vec.h"

static const char KIND[] = "tx-store-outside";
static const char UNPERSISTED[] =
	"this store is outside any transaction, to memory that transactions modify, and nothing outside a transaction "
	"flushes it";
static const char TORN[] =
	"this store is outside any transaction, to a word that a transaction changes together with others: a crash can keep one and "
	"lose the other";

#define HEADER_BYTES 16u     /* bytes that PMDK keeps before an object */
#define HEADER_OLD_BYTES 64u /* the same in pools of an older layout */

struct actor {
	uint32_t stream, thread, depth;
	struct ranges logged;   /* snapshots and allocations of the open transaction */
	struct ranges snapshot; /* only its snapshots */
	/* outside a transaction: PMDK announces what its atomic operations change */
	struct ranges atomic;
	/* address of the header of an object that may be announced next; 0: none */
	uint64_t header;
	uint32_t tx;             /* number of the open transaction */
	bool has_stored;         /* the open transaction has stored something */
	struct torn_thread torn; /* what the thread stores outside */
};

struct state {
	VEC(struct actor) actors;
	size_t last_actor;
	struct words modified;      /* changed in transactions */
	struct unflushed unflushed; /* stored outside */
	struct torn torn;
	struct ranges exempt; /* declared with TX_IGNORE */
	uint32_t ntx;         /* transactions so far */
	uint32_t nshared;     /* open transactions in which several threads may take part */
};

static void *outside_begin(void)
{
	struct state *s = xcalloc(1, sizeof *s);

	s->torn = (struct torn){ .modified = &s->modified, .unflushed = &s->unflushed };
	return s;
}

static void outside_end(void *arg)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->actors.n; i++) {
		struct actor *a = &s->actors.at[i];

		ranges_release(&a->logged);
		ranges_release(&a->snapshot);
		ranges_release(&a->atomic);
		torn_thread_release(&a->torn);
	}
	vec_release(&s->actors);
	unflushed_release(&s->unflushed);
	torn_release(&s->torn);
	words_release(&s->modified);
	ranges_release(&s->exempt);
	free(s);
}

static struct actor *actor_of(struct state *s, const struct trace_event *ev)
{
	size_t i = s->last_actor;

	if (i >= s->actors.n || s->actors.at[i].stream != ev->stream ||
	    s->actors.at[i].thread != ev->thread)
		for (i = 0; i < s->actors.n; i++)
			if (s->actors.at[i].stream == ev->stream &&
			    s->actors.at[i].thread == ev->thread)
				break;
	if (i == s->actors.n)
		*vec_add(&s->actors) = (struct actor){ .stream = ev->stream, .thread = ev->thread };
	s->last_actor = i;
	return &s->actors.at[i];
}

/* ---- stores ---- */

/* Is the store to memory that an open transaction logged? Worker threads may fill what another
 * thread's transaction logged. */
static bool is_logged(const struct state *s, const struct trace_event *ev)
{
	for (size_t i = 0; i < s->actors.n; i++)
		if (s->actors.at[i].depth &&
		    ranges_touch(&s->actors.at[i].logged, ev->addr, ev->size_bytes))
			return true;
	return false;
}

static void store_outside(struct state *s, struct check *c, struct actor *a,
			  const struct trace_event *ev)
{
	const struct platform *p = check_platform(c);
	uint64_t first = ev->addr / WORD_BYTES, last = (ev->addr + ev->size_bytes - 1) / WORD_BYTES;

	if (ranges_touch(&a->atomic, ev->addr, ev->size_bytes))
		return;
	if (model_is_one_access(check_model(c), ev))
		last = first;
	torn_note_words(&a->torn, first, last);
	if (!words_touch(&s->modified, ev->addr, ev->size_bytes) ||
	    ranges_touch(&s->exempt, ev->addr, ev->size_bytes) || s->nshared || is_logged(s, ev) ||
	    check_is_ignored(c, ev->addr, ev->size_bytes))
		return;
	torn_note_modified(&a->torn, ev, first, last);
	if (!p->is_cache_durable && !platform_is_unordered(p, ev))
		unflushed_add(&s->unflushed, ev);
}

static void store_inside(struct state *s, struct actor *a, const struct trace_event *ev)
{
	if (check_is_pmdk_code(ev->site))
		return; /* a store to its log */
	a->has_stored = true;
	torn_note_inside(&s->torn, &a->torn, ev, a->tx);
	if (ranges_cover(&a->snapshot, ev->addr, ev->size_bytes))
		words_note(&s->modified, ev->addr, ev->size_bytes, a->tx, ev->site);
}

static void note_store(struct state *s, struct check *c, const struct trace_event *ev)
{
	struct actor *a;

	if (s->actors.n == 0)
		return; /* no transactions yet */
	a = actor_of(s, ev);
	if (a->depth)
		store_inside(s, a, ev);
	else
		store_outside(s, c, a, ev);
}

/* ---- transactions ---- */

static void begin_tx(struct state *s, const struct trace_event *ev)
{
	struct actor *a = actor_of(s, ev);

	if (ev->arg[0]) {
		s->nshared++;
	} else if (a->depth++ == 0) {
		torn_end_epoch(&s->torn, &a->torn);
		a->tx = ++s->ntx;
		a->has_stored = false;
	}
}

static void end_tx(struct state *s, const struct trace_event *ev)
{
	struct actor *a = actor_of(s, ev);

	if (ev->arg[0]) {
		s->nshared -= s->nshared > 0;
	} else if (a->depth && --a->depth == 0) {
		a->logged.list.n = a->snapshot.list.n = 0;
		if (a->has_stored)
			torn_accuse(&s->torn, &a->torn);
	}
}

static void note_add(struct state *s, const struct trace_event *ev)
{
	struct actor *a = actor_of(s, ev);
	uint64_t behind = a->header ? ev->addr - a->header : 0;

	a->header = 0;
	if (a->depth == 0) {
		torn_excuse(&s->torn, &a->torn);
		ranges_add(&a->atomic, ev->addr, ev->arg[0]);
		return;
	}
	ranges_add(&a->logged, ev->addr, ev->arg[0]);
	if (behind != HEADER_BYTES && behind != HEADER_OLD_BYTES)
		ranges_add(&a->snapshot, ev->addr, ev->arg[0]);
}

/* Follows an atomic allocation: PMDK announces the object's header, writes it, ends that
 * announcement, and then announces the object. */
static void note_remove(struct state *s, const struct trace_event *ev)
{
	struct actor *a = actor_of(s, ev);

	ranges_remove(&a->atomic, ev->addr, ev->arg[0]);
	a->header = ev->addr;
}

/* ---- write-back, freeing ---- */

/* Handles a flush. A commit writes back what was logged, and everything else in the same lines;
 * that does not count as the program's flush. */
static void note_flush(struct state *s, const struct check *c, const struct trace_event *ev)
{
	struct range line = check_written_back(c, ev);
	const struct actor *a;

	if (s->unflushed.sites.n == 0)
		return;
	a = actor_of(s, ev);
	if (a->depth == 0 || !ranges_touch(&a->logged, line.from, line.to - line.from) ||
	    !check_is_pmdk_code(ev->site))
		unflushed_remove(&s->unflushed, line.from, line.to - line.from);
}

/* Handles bytes that the program announces to pmemcheck as flushed. If it executed no flush,
 * recovery probably computes them again, so they are dropped. PMDK's own announcements come with
 * real flushes and do not count. */
static void note_announced(struct state *s, const struct trace_event *ev)
{
	if (!check_is_pmdk_code(ev->site))
		unflushed_remove(&s->unflushed, ev->addr, ev->arg[0]);
}

static void note_sync(struct state *s, const struct check *c, const struct trace_event *ev)
{
	struct range r = check_written_back(c, ev);

	unflushed_remove(&s->unflushed, r.from, r.to - r.from);
}

static void note_fence(struct state *s, const struct trace_event *ev)
{
	struct actor *a = s->actors.n && !check_is_runtime_code(ev->site) ? actor_of(s, ev) : NULL;

	if (a && a->depth == 0)
		torn_end_epoch(&s->torn, &a->torn);
}

/* ---- judging ---- */

static void report(const struct state *s, struct check *c, const char *message,
		   const struct trace_site *site, uint64_t seq, const struct ranges *at)
{
	const struct word *inside = words_first(&s->modified, at);
	struct finding f = { .kind = KIND, .message = message, .first_seq = seq, .nplaces = 2 };

	if (!inside || words_has_proper(&s->modified, at))
		return;
	f.places[0] = (struct finding_place){ "store", site };
	f.places[1] = (struct finding_place){ "tx", inside->site };
	check_report(c, &f);
}

static void judge(struct state *s, struct check *c)
{
	for (size_t i = 0; i < s->unflushed.sites.n; i++) {
		const struct unflushed_site *u = &s->unflushed.sites.at[i];

		report(s, c, UNPERSISTED, u->site, u->seq, &u->bytes);
	}
	for (size_t i = 0; i < s->torn.suspects.n; i++) {
		const struct torn_group *g = &s->torn.suspects.at[i];

		report(s, c, TORN, g->site, g->seq, &g->words);
	}
	unflushed_clear(&s->unflushed);
	torn_clear(&s->torn);
}

static bool is_pages(const struct trace_event *ev)
{
	return !((ev->addr | ev->arg[0]) & (PMT_PAGE_BYTES - 1));
}

/* Handles registered memory. If PMDK registers memory again after it was freed, the next object
 * there is another one. If a whole pool is registered (pages, not an object behind its header), it
 * is being opened, and the findings so far stay. */
static void note_registered(struct state *s, struct check *c, const struct trace_event *ev)
{
	if (is_pages(ev))
		judge(s, c);
	else
		unflushed_remove(&s->unflushed, ev->addr, ev->arg[0]);
	words_forget(&s->modified, ev->addr, ev->arg[0]);
}

/* Handles memory that is not PM any more: a lock in an object, or a whole pool that is closed; the
 * pool's findings stay. */
static void note_not_pm(struct state *s, const struct trace_event *ev)
{
	if (!is_pages(ev))
		words_forget(&s->modified, ev->addr, ev->arg[0]);
}

static void outside_step(void *arg, struct check *c, const struct trace_event *ev)
{
	struct state *s = arg;

	switch (ev->kind) {
	case PMT_TX_BEGIN: begin_tx(s, ev); break;
	case PMT_TX_END: end_tx(s, ev); break;
	case PMT_TX_ADD: note_add(s, ev); break;
	case PMT_TX_REMOVE: note_remove(s, ev); break;
	case PMT_TX_IGNORE: ranges_add(&s->exempt, ev->addr, ev->arg[0]); break;
	case PMT_IS_PM: note_registered(s, c, ev); break;
	case PMT_NOT_PM: note_not_pm(s, ev); break;
	case PMT_SET_CLEAN:
	case PMT_IGNORE: unflushed_remove(&s->unflushed, ev->addr, ev->arg[0]); break;
	case PMT_NOTE_FLUSH: note_announced(s, ev); break;
	case PMT_STORE:
	case PMT_STORE_NT:
	case PMT_STORE_PAIR:
	case PMT_STORE_VECTOR: note_store(s, c, ev); break;
	case PMT_STORE_RMW:
	case PMT_STORE_ORDERED:
		if (model_completes(check_model(c), ev))
			note_fence(s, ev);
		note_store(s, c, ev);
		break;
	case PMT_SFENCE:
	case PMT_MFENCE:
	case PMT_RMW_FENCE:
	case PMT_ORDER:
	case PMT_DMB:
	case PMT_DSB:
		if (model_completes(check_model(c), ev))
			note_fence(s, ev);
		break;
	case PMT_CLFLUSH:
	case PMT_CLFLUSHOPT:
	case PMT_CLWB:
	case PMT_DC_CVAC:
	case PMT_DC_CIVAC:
	case PMT_DC_CVAP:
	case PMT_DC_CVADP: note_flush(s, c, ev); break;
	case PMT_MSYNC:
	case PMT_FSYNC:
	case PMT_FDATASYNC: note_sync(s, c, ev); break;
	default: break; /* not about transactions or stores outside */
	}
}

/* Drops suspects of a thread that was cut off, because nobody knows what it would have done
 * next. */
static void forget_cut(struct state *s, const struct check *c)
{
	for (size_t i = 0; i < s->unflushed.sites.n; i++) {
		struct unflushed_site *u = &s->unflushed.sites.at[i];

		if (check_is_cut(c, u->stream, u->thread, u->seq))
			u->bytes.list.n = 0;
	}
}

static void outside_finish(void *arg, struct check *c)
{
	struct state *s = arg;

	forget_cut(s, c);
	for (size_t i = 0; i < s->actors.n; i++) {
		if (check_is_cut_process(c, s->actors.at[i].stream))
			continue;
		torn_end_epoch(&s->torn, &s->actors.at[i].torn);
		torn_accuse(&s->torn, &s->actors.at[i].torn);
	}
	judge(s, c);
}

/* Is the oracle asleep? It is until the first transaction. */
static bool outside_is_asleep(const void *state, const struct check *c)
{
	(void)c;
	return ((const struct state *)state)->actors.n == 0;
}

const struct oracle oracle_tx_outside = {
	.name = "tx-outside",
	.help = "stores outside of transactions to what transactions modify: tx-store-outside",
	.classes = EVENT_STORE | EVENT_FLUSH | EVENT_FENCE,
	.is_asleep = outside_is_asleep,
	.begin = outside_begin,
	.step = outside_step,
	.finish = outside_finish,
	.end = outside_end,
};
