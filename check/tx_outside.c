/* tx-store-outside: a store outside any transaction to memory that elsewhere is modified only inside transactions.
 *
 * Memory counts as such once the program stored to it in a transaction that had logged it (not: allocated it), until it is freed;
 * what came before is initialisation. A store outside is no bug by itself: PMDK's atomic operations make them, and a program may
 * do the same with care. So one of two things must be wrong, too:
 *
 *   unpersisted  Nothing outside a transaction ever writes it back: at best, the commit of a later transaction does.
 *   torn         Words that a transaction changed together are stored without a fence between, so that a crash can keep one and lose
 *                the other, and nothing that the thread does next makes them valid as a whole: neither a single word that is
 *                stored and fenced alone (a commit variable), nor an atomic operation of PMDK, nor a transaction that stores to
 *                anything but what that first one changed.
 *
 * Words that the program also changes outside in the right way are not "modified only inside", and exempt. Limits: an object
 * that was allocated without a header looks as if it had been logged; a word whose value does not change counts as changed.
 * Memory grows with the words that transactions changed. */
#include "check/oracle.h"

#include <stdlib.h>

#include "check/words.h"
#include "util/alloc.h"
#include "util/vec.h"

static const char KIND[] = "tx-store-outside";
static const char UNPERSISTED[] = "stored outside any transaction to memory that transactions modify, and nothing outside one ever writes it "
				  "back: at best, a later commit does";
static const char TORN[] = "stored outside any transaction along with other words that a transaction changes together with it: a crash "
			   "can keep one and lose the other";

#define HEADER_BYTES 16u     /* that PMDK keeps before an object */
#define HEADER_OLD_BYTES 64u /* in pools of an older layout */
#define MAX_SUSPECTS 4096u   /* that are kept for the end; one for each place in the source would do */

/* Words that were stored outside without a fence between. */
struct group {
	const struct trace_site *site; /* of the first store */
	uint64_t seq;
	uint32_t tx; /* that changed several of them; 0: none did */
	struct ranges words;
};

struct actor {
	uint32_t stream, thread, depth;
	struct ranges logged;	   /* in the open transaction: snapshots and allocations */
	struct ranges snapshot;	   /* the snapshots only */
	struct ranges atomic;	   /* outside one: PMDK announces what its atomic operations change */
	uint64_t header;	   /* of an object that may be announced next; 0: none */
	uint32_t tx;		   /* number of the open transaction */
	bool has_stored;	   /* it has */
	struct group epoch;	   /* outside, since the last fence: words that transactions change */
	uint64_t word;		   /* and all words of PM: the first of the last store */
	uint32_t nwords;	   /* at most 2, which stands for more */
	VEC(struct group) waiting; /* earlier epochs that nothing has made valid yet */
};

/* What is not written back yet, by the instruction that stored it. */
struct unflushed {
	const struct trace_site *site;
	uint64_t seq;
	struct ranges bytes;
};

struct state {
	VEC(struct actor) actors;
	size_t last_actor;
	VEC(struct unflushed) unflushed;
	VEC(struct group) suspects; /* torn */
	VEC(uint32_t) txs;	    /* scratch */
	struct words modified;	    /* in transactions */
	struct ranges exempt;	    /* TX_IGNORE */
	uint32_t ntx;		    /* transactions so far */
	uint32_t nshared;	    /* open transactions that several threads may take part in */
};

static void *outside_begin(void)
{
	return xcalloc(1, sizeof(struct state));
}

static void groups_release(struct group *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ranges_release(&list[i].words);
}

static void outside_end(void *arg)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->actors.n; i++) {
		struct actor *a = &s->actors.at[i];

		ranges_release(&a->logged);
		ranges_release(&a->snapshot);
		ranges_release(&a->atomic);
		ranges_release(&a->epoch.words);
		groups_release(a->waiting.at, a->waiting.n);
		vec_release(&a->waiting);
	}
	for (size_t i = 0; i < s->unflushed.n; i++)
		ranges_release(&s->unflushed.at[i].bytes);
	groups_release(s->suspects.at, s->suspects.n);
	vec_release(&s->actors);
	vec_release(&s->unflushed);
	vec_release(&s->suspects);
	vec_release(&s->txs);
	words_release(&s->modified);
	ranges_release(&s->exempt);
	free(s);
}

static struct actor *actor_of(struct state *s, const struct trace_event *ev)
{
	size_t i = s->last_actor;

	if (i >= s->actors.n || s->actors.at[i].stream != ev->stream || s->actors.at[i].thread != ev->thread)
		for (i = 0; i < s->actors.n; i++)
			if (s->actors.at[i].stream == ev->stream && s->actors.at[i].thread == ev->thread)
				break;
	if (i == s->actors.n)
		*vec_add(&s->actors) = (struct actor){ .stream = ev->stream, .thread = ev->thread };
	s->last_actor = i;
	return &s->actors.at[i];
}

/* ---- words that were stored outside ---- */

/* The first of the words known there for which f is true. */
static struct word *find_word(const struct words *w, const struct ranges *r, bool (*f)(struct word *word))
{
	for (size_t i = 0; i < r->list.n; i++) {
		uint64_t addr = r->list.at[i].from & ~(uint64_t)(WORD_BYTES - 1);

		for (; addr < r->list.at[i].to; addr += WORD_BYTES) {
			struct word *word = words_find(w, addr);

			if (word && f(word))
				return word;
		}
	}
	return NULL;
}

static bool word_is_known(struct word *word)
{
	(void)word;
	return true;
}

static bool word_is_proper(struct word *word)
{
	return word->is_proper;
}

static bool word_set_proper(struct word *word)
{
	word->is_proper = true;
	return false;
}

static bool is_unflushed(const struct state *s, const struct ranges *words)
{
	for (size_t i = 0; i < s->unflushed.n; i++)
		for (size_t k = 0; k < words->list.n; k++)
			if (ranges_touch(&s->unflushed.at[i].bytes, words->list.at[k].from,
					 words->list.at[k].to - words->list.at[k].from))
				return true;
	return false;
}

static int number_compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The transaction that changed two of these words, 0 if none did. */
static uint32_t common_tx(struct state *s, const struct ranges *words)
{
	s->txs.n = 0;
	for (size_t i = 0; i < words->list.n; i++)
		for (uint64_t addr = words->list.at[i].from; addr < words->list.at[i].to; addr += WORD_BYTES) {
			const struct word *word = words_find(&s->modified, addr);

			if (word)
				*vec_add(&s->txs) = word->tx;
		}
	if (s->txs.n)
		qsort(s->txs.at, s->txs.n, sizeof *s->txs.at, number_compare);
	for (size_t i = 1; i < s->txs.n; i++)
		if (s->txs.at[i] == s->txs.at[i - 1])
			return s->txs.at[i];
	return 0;
}

/* Something made what was stored before valid as a whole. */
static void excuse(struct state *s, struct actor *a)
{
	for (size_t i = 0; i < a->waiting.n; i++)
		find_word(&s->modified, &a->waiting.at[i].words, word_set_proper);
	groups_release(a->waiting.at, a->waiting.n);
	a->waiting.n = 0;
}

static void accuse(struct state *s, struct actor *a)
{
	for (size_t i = 0; i < a->waiting.n; i++) {
		if (s->suspects.n < MAX_SUSPECTS)
			*vec_add(&s->suspects) = a->waiting.at[i];
		else
			ranges_release(&a->waiting.at[i].words);
	}
	a->waiting.n = 0;
}

/* A fence came, or a transaction begins. */
static void end_epoch(struct state *s, struct actor *a)
{
	if (a->nwords == 1)
		excuse(s, a);
	a->nwords = 0;
	if (a->epoch.words.list.n == 0)
		return;
	a->epoch.tx = common_tx(s, &a->epoch.words);
	if (a->epoch.tx) {
		*vec_add(&a->waiting) = a->epoch;
		a->epoch.words = (struct ranges){ 0 };
	} else if (!is_unflushed(s, &a->epoch.words)) {
		find_word(&s->modified, &a->epoch.words, word_set_proper);
	}
	a->epoch.words.list.n = 0;
}

/* ---- stores ---- */

static void note_unflushed(struct state *s, const struct trace_event *ev)
{
	size_t i = 0;

	while (i < s->unflushed.n && s->unflushed.at[i].site != ev->site)
		i++;
	if (i == s->unflushed.n)
		*vec_add(&s->unflushed) = (struct unflushed){ .site = ev->site, .seq = ev->seq };
	ranges_add(&s->unflushed.at[i].bytes, ev->addr, ev->size_bytes);
}

/* Logged in any open transaction: worker threads may fill what another thread's transaction logged. */
static bool is_logged(const struct state *s, const struct trace_event *ev)
{
	for (size_t i = 0; i < s->actors.n; i++)
		if (s->actors.at[i].depth && ranges_touch(&s->actors.at[i].logged, ev->addr, ev->size_bytes))
			return true;
	return false;
}

static void store_outside(struct state *s, struct check *c, struct actor *a, const struct trace_event *ev)
{
	const struct platform *p = check_platform(c);
	uint64_t first = ev->addr / WORD_BYTES, last = (ev->addr + ev->size_bytes - 1) / WORD_BYTES;

	if (ranges_touch(&a->atomic, ev->addr, ev->size_bytes))
		return;
	if (model_is_one_access(ev))
		last = first;
	a->nwords = first != last || (a->nwords && a->word != first) ? 2 : a->nwords == 2 ? 2 : 1;
	a->word = first;
	if (!words_touch(&s->modified, ev->addr, ev->size_bytes) || ranges_touch(&s->exempt, ev->addr, ev->size_bytes) ||
	    s->nshared || is_logged(s, ev) || check_is_ignored(c, ev->addr, ev->size_bytes))
		return;
	if (a->epoch.words.list.n == 0) {
		a->epoch.site = ev->site;
		a->epoch.seq = ev->seq;
	}
	ranges_add(&a->epoch.words, first * WORD_BYTES, (last - first + 1) * WORD_BYTES);
	if (!p->is_cache_durable && !(ev->kind == PMT_STORE_NT && p->has_flush))
		note_unflushed(s, ev);
}

/* Does the open transaction store to something else than the one that changed the group's words? */
static bool is_elsewhere(const struct state *s, const struct actor *a, const struct group *g, const struct trace_event *ev)
{
	uint64_t addr = ev->addr & ~(uint64_t)(WORD_BYTES - 1);

	for (; addr < ev->addr + ev->size_bytes; addr += WORD_BYTES) {
		const struct word *word = words_find(&s->modified, addr);

		if (!word || (word->tx != g->tx && word->tx != a->tx))
			return true;
	}
	return false;
}

static void store_inside(struct state *s, struct actor *a, const struct trace_event *ev)
{
	if (check_is_pmdk_code(ev->site))
		return; /* its log */
	a->has_stored = true;
	for (size_t i = 0; i < a->waiting.n; i++)
		if (is_elsewhere(s, a, &a->waiting.at[i], ev)) {
			excuse(s, a);
			break;
		}
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
		end_epoch(s, a);
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
			accuse(s, a);
	}
}

static void note_add(struct state *s, const struct trace_event *ev)
{
	struct actor *a = actor_of(s, ev);
	uint64_t behind = a->header ? ev->addr - a->header : 0;

	a->header = 0;
	if (a->depth == 0) {
		excuse(s, a);
		ranges_add(&a->atomic, ev->addr, ev->arg[0]);
		return;
	}
	ranges_add(&a->logged, ev->addr, ev->arg[0]);
	if (behind != HEADER_BYTES && behind != HEADER_OLD_BYTES)
		ranges_add(&a->snapshot, ev->addr, ev->arg[0]);
}

/* PMDK announces an object's header, writes it, takes that back, and next announces the object. */
static void note_remove(struct state *s, const struct trace_event *ev)
{
	struct actor *a = actor_of(s, ev);

	ranges_remove(&a->atomic, ev->addr, ev->arg[0]);
	a->header = ev->addr;
}

/* ---- write-back, freeing ---- */

static void write_back(struct state *s, uint64_t addr, uint64_t len_bytes)
{
	for (size_t i = 0; i < s->unflushed.n; i++)
		ranges_remove(&s->unflushed.at[i].bytes, addr, len_bytes);
}

/* A commit writes back what was logged, and with it what else is in these lines: that is not the program's doing. */
static void note_flush(struct state *s, const struct trace_event *ev)
{
	uint64_t line = ev->addr & ~(uint64_t)(PMT_LINE_BYTES - 1);
	const struct actor *a;

	if (s->unflushed.n == 0)
		return;
	a = actor_of(s, ev);
	if (a->depth == 0 || !ranges_touch(&a->logged, line, PMT_LINE_BYTES) || !check_is_pmdk_code(ev->site))
		write_back(s, line, PMT_LINE_BYTES);
}

static void note_msync(struct state *s, const struct trace_event *ev)
{
	uint64_t start = ev->addr & ~(uint64_t)(PMT_PAGE_BYTES - 1);

	write_back(s, start, (ev->addr - start + ev->arg[0] + PMT_PAGE_BYTES - 1) & ~(uint64_t)(PMT_PAGE_BYTES - 1));
}

static void note_fence(struct state *s, const struct trace_event *ev)
{
	struct actor *a = s->actors.n && !check_is_runtime_code(ev->site) ? actor_of(s, ev) : NULL;

	if (a && a->depth == 0)
		end_epoch(s, a);
}

/* ---- judging ---- */

static void report(const struct state *s, struct check *c, const char *message, const struct trace_site *site, uint64_t seq,
		   const struct ranges *at)
{
	const struct word *inside = find_word(&s->modified, at, word_is_known);
	struct finding f = { .kind = KIND, .message = message, .first_seq = seq, .nplaces = 2 };

	if (!inside || find_word(&s->modified, at, word_is_proper))
		return;
	f.places[0] = (struct finding_place){ "store", site };
	f.places[1] = (struct finding_place){ "tx", inside->site };
	check_report(c, &f);
}

static void judge(struct state *s, struct check *c)
{
	for (size_t i = 0; i < s->unflushed.n; i++) {
		report(s, c, UNPERSISTED, s->unflushed.at[i].site, s->unflushed.at[i].seq, &s->unflushed.at[i].bytes);
		ranges_release(&s->unflushed.at[i].bytes);
	}
	for (size_t i = 0; i < s->suspects.n; i++)
		report(s, c, TORN, s->suspects.at[i].site, s->suspects.at[i].seq, &s->suspects.at[i].words);
	groups_release(s->suspects.at, s->suspects.n);
	s->unflushed.n = s->suspects.n = 0;
}

static bool is_pages(const struct trace_event *ev)
{
	return !((ev->addr | ev->arg[0]) & (PMT_PAGE_BYTES - 1));
}

/* PMDK registers what was freed anew: what comes next there is another object. A whole pool (pages, not an object behind its
 * header) is opened for the first time or again: then what was found until now stands. */
static void note_registered(struct state *s, struct check *c, const struct trace_event *ev)
{
	if (is_pages(ev))
		judge(s, c);
	else
		write_back(s, ev->addr, ev->arg[0]);
	words_forget(&s->modified, ev->addr, ev->arg[0]);
}

/* A lock in an object; or a whole pool that is closed, of which we still want to know. */
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
	case PMT_STORE:
	case PMT_STORE_NT: note_store(s, c, ev); break;
	case PMT_STORE_RMW:
		note_fence(s, ev);
		note_store(s, c, ev);
		break;
	case PMT_SFENCE:
	case PMT_MFENCE:
	case PMT_RMW_FENCE: note_fence(s, ev); break;
	case PMT_CLFLUSH:
	case PMT_CLFLUSHOPT:
	case PMT_CLWB:
		if (check_platform(c)->has_flush)
			note_flush(s, ev);
		break;
	case PMT_MSYNC: note_msync(s, ev); break;
	case PMT_FSYNC:
	case PMT_FDATASYNC: write_back(s, PMT_ADDR(ev->arg[0], 0), ev->arg[0] ? PMT_ADDR(1, 0) : UINT64_MAX); break;
	default: break; /* neither about transactions nor about what lies outside */
	}
}

static void outside_finish(void *arg, struct check *c)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->actors.n; i++) {
		end_epoch(s, &s->actors.at[i]);
		accuse(s, &s->actors.at[i]);
	}
	judge(s, c);
}

const struct oracle oracle_tx_outside = {
	.name = "tx-outside",
	.help = "stores outside of transactions to what transactions modify: tx-store-outside",
	.begin = outside_begin,
	.step = outside_step,
	.finish = outside_finish,
	.end = outside_end,
};
