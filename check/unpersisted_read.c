/* The oracle unpersisted-read reports where a thread reads what another one stored before that is
 * durable, and then makes something of its own durable, or answers a request, while the store may
 * still be lost. A crash at that moment keeps the reader's work and loses what it rests on.
 *
 *	thread A: x = 1;                            flush(x); fence
 *	thread B:         read x; y = 2; flush(y); fence
 *	                                                 ^ a crash here: y is 2, and x may be 0
 *
 * Only what the recorded run shows is a finding: the load must fall between the store and its
 * fence, and the reader's work must be durable while the store is not. What the reader persists may
 * depend on the load if it holds the value, goes to where the value points, or comes later in the
 * same operation (activity.h); in the last case the finding is a warning.
 *
 * Not reported: a value that is durable when the reader's work is (it flushed what it read, or read
 * it again later), or that lacks only a mark which an atomic instruction cleared; what the reader
 * replaces itself before it is durable, as with locks, counters and the head of a list; a store
 * that nobody flushes on purpose (locks, versions, statistics; the durability oracle has its own
 * findings about them); what PMDK's libraries do on their own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/activity.h"
#include "check/candidates.h"
#include "check/findings.h"
#include "check/newest.h"
#include "check/oracle.h"
#include "trace/owner.h"

static const char KIND[] = "unpersisted-read";
static const char BY_ORDER[] =
	"that the reader's work depends on what it read is a guess: the recording shows no more than the order of both";

#define READS_MAX 64u   /* of a thread; the oldest is given up */
#define WORKS_MAX 256u  /* of a thread; later ones are left out */
#define VALUE_LEAST 256 /* a smaller value is found by chance */
#define POINTED_BYTES 256u

/* A load of what another thread stored, and may be lost. */
struct read {
	struct newest_store store;
	struct activity_moment load;
	struct unlock got; /* the lock that the storing thread gave back too early; site or NULL */
};

/* A store by the reader that may depend on it. */
struct work {
	struct read read;
	uint64_t addr, seq;
	uint32_t size_bytes;
	const struct trace_site *site;
	bool is_shown; /* not only by the order of events */
	/* it was durable while the store could be lost; the reader may still replace the value */
	bool is_harmed;
};

struct reader {
	VEC(struct read) reads;
	VEC(struct work) works;
};

struct mapping {
	uint32_t stream;
	uint64_t va, len_bytes, addr;
};

struct state {
	bool is_recorded; /* --threads */
	uint32_t nthreads;
	struct newest newest;
	struct activities activities;
	struct candidates candidates;
	VEC(struct reader) readers; /* by thread */
	VEC(struct mapping) maps;
	struct ranges locks;   /* in PM */
	VEC(bool) is_flushed;  /* by site: a flush came while its store was the newest */
	struct findings found; /* until the end, when all flushes are known */
	VEC(uint32_t) due;     /* threads whose flushes an event completes */
	bool is_awake;
};

static void *unpersisted_begin(void)
{
	return xcalloc(1, sizeof(struct state));
}

static void unpersisted_end(void *arg)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->readers.n; i++) {
		vec_release(&s->readers.at[i].reads);
		vec_release(&s->readers.at[i].works);
	}
	vec_release(&s->readers);
	vec_release(&s->maps);
	vec_release(&s->is_flushed);
	vec_release(&s->due);
	ranges_release(&s->locks);
	findings_release(&s->found);
	activities_release(&s->activities);
	candidates_release(&s->candidates);
	newest_release(&s->newest);
	free(s);
}

static struct reader *reader_of(struct state *s, uint32_t who)
{
	while (s->readers.n <= who)
		*vec_add(&s->readers) = (struct reader){ 0 };
	return &s->readers.at[who];
}

/* Is the store or load one that a library of PMDK makes on its own? libpmem is none of these,
 * because it only copies for whoever calls it. */
static bool is_own_work(const struct trace_site *site)
{
	const struct trace_object *o = site ? site->object : NULL;

	if (!check_is_pmdk_code(site))
		return false;
	for (const struct trace_node *n = site->node; o && owner_of_object(o->path) == OWNER_PMDK;
	     o = n ? n->object : NULL, n = n ? n->parent : NULL)
		if (!strstr(o->path, "/libpmem.so"))
			return true;
	return false;
}

/* ---- findings ---- */

struct asked {
	uint64_t seq;
	bool is_there;
};

static void is_it(const struct model_store *m, void *arg)
{
	struct asked *a = arg;

	a->is_there |= m->seq == a->seq;
}

/* Can a crash now lose this store? */
static bool can_be_lost(const struct check *c, const struct newest_store *store)
{
	struct asked a = { .seq = store->seq };

	model_each(check_model(c), newest_addr(store), (uint64_t)(store->to - store->from), is_it,
		   &a);
	return a.is_there;
}

static bool is_of_lock(const struct state *s, const struct newest_store *store)
{
	return ranges_touch(&s->locks, newest_addr(store), (uint64_t)(store->to - store->from));
}

static void keep_finding(struct state *s, const struct check *c, const struct read *r,
			 const struct trace_site *site, bool is_answer, bool is_shown)
{
	static const char persisted[] =
		"another thread reads this store before it is durable, and makes its own work durable first";
	static const char answered[] =
		"another thread reads this store before it is durable, and answers a request";
	static const char unlocked[] =
		"the lock is released before this store is durable; the next thread reads it and makes its own work durable first";
	struct finding f = { .kind = KIND,
			     .message = is_answer     ? answered
					: r->got.site ? unlocked
						      : persisted,
			     .reason = is_shown ? NULL : BY_ORDER,
			     .first_seq = r->store.seq,
			     .addr = newest_addr(&r->store),
			     .nplaces = 3,
			     .places = { { "store", r->store.site },
					 { "load", r->load.site },
					 { is_answer ? "acknowledged" : "persisted", site } } };

	if (r->got.site)
		f.places[f.nplaces++] = (struct finding_place){ "unlock", r->got.site };
	if (!is_of_lock(s, &r->store) &&
	    !check_is_ignored(c, f.addr, (uint64_t)(r->store.to - r->store.from)))
		findings_add(&s->found, &f);
}

/* Looks at what the thread has stored since its reads: is it durable, and what it read is not? */
static void judge(struct state *s, const struct check *c, struct reader *b, bool is_end)
{
	size_t n = 0;

	for (size_t i = 0; i < b->works.n; i++) {
		struct work *w = &b->works.at[i];
		const bool is_lost = can_be_lost(c, &w->read.store);

		w->is_harmed |= is_lost && model_is_durable(check_model(c), w->addr, w->size_bytes);
		if (w->is_harmed && (!is_lost || is_end))
			keep_finding(s, c, &w->read, w->site, false, w->is_shown);
		else if (is_lost)
			b->works.at[n++] = *w;
	}
	b->works.n = n;
}

static void judge_due(struct state *s, const struct check *c)
{
	for (size_t i = 0; i < s->due.n; i++) {
		candidates_settle(&s->candidates, check_model(c), s->due.at[i]);
		if (s->due.at[i] < s->readers.n)
			judge(s, c, &s->readers.at[s->due.at[i]], false);
	}
	s->due.n = 0;
}

/* ---- loads ---- */

static void add_read(struct state *s, struct reader *b, uint32_t who,
		     const struct newest_store *store, const struct trace_event *ev)
{
	const struct activity *t = &s->activities.list.at[who];
	const struct unlock *u = activity_got_from(&s->activities, t, store->who, store->seq);
	struct read r = { .store = *store, .load = activity_now(t, ev) };

	if (u)
		r.got = *u;
	if (b->reads.n == READS_MAX)
		memmove(b->reads.at, b->reads.at + 1, --b->reads.n * sizeof *b->reads.at);
	*vec_add(&b->reads) = r;
}

static bool is_within(const struct newest_store *s, uint64_t addr, uint64_t len_bytes)
{
	return newest_addr(s) < addr + len_bytes && newest_addr(s) + (s->to - s->from) > addr;
}

/* Forgets what this instruction read before, and what was read of these bytes: only the new read
 * counts. */
static void forget_reads(struct reader *b, const struct trace_event *ev)
{
	size_t n = 0;

	for (size_t i = 0; i < b->reads.n; i++)
		if (b->reads.at[i].load.site != ev->site &&
		    !is_within(&b->reads.at[i].store, ev->addr, ev->size_bytes))
			b->reads.at[n++] = b->reads.at[i];
	b->reads.n = n;
}

static void note_load(struct state *s, const struct check *c, uint32_t who,
		      const struct trace_event *ev)
{
	struct reader *b = reader_of(s, who);

	if (b->reads.n > 0)
		forget_reads(b, ev);
	for (uint64_t addr = ev->addr & ~7ul; addr < ev->addr + ev->size_bytes; addr += 8) {
		struct newest_store *store = newest_find(&s->newest, addr);

		if (store && store->who != who && is_within(store, ev->addr, ev->size_bytes) &&
		    !newest_is_durable(store, check_model(c)) && !is_own_work(ev->site))
			add_read(s, b, who, store, ev);
	}
}

/* ---- stores ---- */

/* Does the store hold this value? */
static bool holds(const struct trace_event *ev, uint64_t value, uint32_t len)
{
	for (uint32_t i = 0; i + len <= ev->data_len; i += len)
		if (memcmp(ev->data + i, &value, len) == 0)
			return true;
	return false;
}

/* Is the value the offset of what the event stores to? Sizes and counts may be so by chance. */
static bool is_offset(const struct trace_event *ev, uint64_t value)
{
	return value >= PMT_PAGE_BYTES && value % 8 == 0 &&
	       PMT_OFFSET(ev->addr) - value < POINTED_BYTES;
}

/* Is the value a pointer to what the event stores to? */
static bool points_to(const struct state *s, const struct trace_event *ev, uint64_t value)
{
	for (size_t i = s->maps.n; i-- > 0;) {
		const struct mapping *m = &s->maps.at[i];

		if (m->stream == ev->stream && value - m->va < m->len_bytes)
			return ev->addr - (m->addr + (value - m->va)) < POINTED_BYTES;
	}
	return false;
}

/* is_same: the store belongs to the operation of the load */
static bool is_shown(const struct state *s, const struct read *r, const struct trace_event *ev,
		     bool is_same)
{
	const uint32_t len = (uint32_t)(r->store.to - r->store.from);

	return r->store.value >= VALUE_LEAST && (len == 4 || len == 8) &&
	       ((ev->data && holds(ev, r->store.value, len)) || points_to(s, ev, r->store.value) ||
		(is_same && is_offset(ev, r->store.value)));
}

static void add_work(struct reader *b, const struct read *r, const struct trace_event *ev,
		     bool is_shown)
{
	for (size_t i = 0; i < b->works.n; i++)
		if (b->works.at[i].site == ev->site &&
		    b->works.at[i].read.load.site == r->load.site &&
		    b->works.at[i].read.store.seq == r->store.seq &&
		    b->works.at[i].is_shown >= is_shown)
			return;
	if (b->works.n == WORKS_MAX)
		return;
	*vec_add(&b->works) = (struct work){ .read = *r,
					     .addr = ev->addr,
					     .seq = ev->seq,
					     .size_bytes = ev->size_bytes,
					     .site = ev->site,
					     .is_shown = is_shown };
}

/* Forgets the reads whose bytes the reader replaces by its own value while the store that it read
 * may be lost: its own value counts now. */
static void forget_replaced(struct reader *b, const struct check *c, const struct trace_event *ev)
{
	size_t n = 0;

	for (size_t i = 0; i < b->reads.n; i++)
		if (!is_within(&b->reads.at[i].store, ev->addr, ev->size_bytes))
			b->reads.at[n++] = b->reads.at[i];
	b->reads.n = n;
	n = 0;
	for (size_t i = 0; i < b->works.n; i++)
		if (!is_within(&b->works.at[i].read.store, ev->addr, ev->size_bytes) ||
		    !can_be_lost(c, &b->works.at[i].read.store))
			b->works.at[n++] = b->works.at[i];
	b->works.n = n;
}

static void note_works(struct state *s, const struct check *c, uint32_t who,
		       const struct trace_event *ev)
{
	struct reader *b = reader_of(s, who);
	size_t n = 0;

	if (b->works.n > 0)
		judge(s, c, b, false);
	forget_replaced(b, c, ev);
	if (b->reads.n == 0 || is_own_work(ev->site) ||
	    ranges_touch(&s->locks, ev->addr, ev->size_bytes))
		return;
	for (size_t i = 0; i < b->reads.n; i++) {
		const struct read *r = &b->reads.at[i];
		const bool is_same = activity_is_same(&s->activities.list.at[who], &r->load, ev),
			   by_data = is_shown(s, r, ev, is_same);

		if (!can_be_lost(c, &r->store))
			continue;
		if (by_data || is_same)
			add_work(b, r, ev, by_data);
		b->reads.at[n++] = *r;
	}
	b->reads.n = n;
}

static void note_flushed_site(struct state *s, const struct trace_site *site)
{
	const uint32_t id = site ? site->id : 0;

	while (s->is_flushed.n <= id)
		*vec_add(&s->is_flushed) = false;
	s->is_flushed.at[id] = true;
}

static void note_store(struct state *s, const struct check *c, uint32_t who,
		       const struct trace_event *ev)
{
	bool is_cleared;

	if (who < s->readers.n &&
	    (s->readers.at[who].reads.n > 0 || s->readers.at[who].works.n > 0))
		note_works(s, c, who, ev);
	if (check_platform(c)->is_cache_durable && !platform_is_unordered(check_platform(c), ev))
		return;
	if (is_own_work(ev->site))
		return;
	is_cleared = newest_is_cleared(&s->newest, check_model(c), ev);
	newest_note(&s->newest, check_model(c), ev, who);
	if (is_cleared)
		newest_settle(&s->newest, ev->addr);
	else
		candidates_store(&s->candidates, &s->activities, who, ev);
	if (platform_is_unordered(check_platform(c), ev))
		note_flushed_site(s, ev->site);
}

/* ---- flushes ---- */

/* Notes that the newest stores in this range were flushed on purpose. */
static void note_flushed(struct state *s, struct range r)
{
	if (r.to - r.from > 8 * s->newest.room) {
		for (size_t i = 0; i < s->newest.room; i++)
			if (s->newest.slots[i].key && s->newest.slots[i].seq &&
			    is_within(&s->newest.slots[i], r.from, r.to - r.from))
				note_flushed_site(s, s->newest.slots[i].site);
		return;
	}
	for (uint64_t addr = r.from & ~7ul; addr < r.to; addr += 8) {
		const struct newest_store *store = newest_find(&s->newest, addr);

		if (store)
			note_flushed_site(s, store->site);
	}
}

static void note_durability(struct state *s, struct check *c, uint32_t who,
			    const struct trace_event *ev)
{
	const struct range r = check_written_back(c, ev);

	if (r.to > r.from)
		note_flushed(s, r);
	*vec_add(&s->due) = who;
}

/* ---- other events ---- */

/* What the thread does now shows which of the functions that read have returned. */
static void note_returns(struct reader *b, const struct trace_site *now)
{
	for (size_t i = 0; i < b->reads.n; i++) {
		struct activity_moment *load = &b->reads.at[i].load;

		load->has_returned =
			load->has_returned || !activity_is_function_active(load->site, now);
	}
}

/* Does the text have this number as a word of its own? */
static bool says_number(const uint8_t *text, uint32_t n, uint64_t value)
{
	char word[24];
	const size_t len = (size_t)snprintf(word, sizeof word, "%" PRIu64, value);

	for (uint32_t i = 0; i + len <= n; i++)
		if (memcmp(text + i, word, len) == 0 &&
		    (i == 0 || text[i - 1] < '0' || text[i - 1] > '9') &&
		    (i + len == n || text[i + len] < '0' || text[i + len] > '9'))
			return true;
	return false;
}

static bool says(const struct trace_event *output, const struct newest_store *s)
{
	const uint32_t len = (uint32_t)(s->to - s->from);

	if (s->value >= VALUE_LEAST && memmem(output->data, output->data_len, &s->value, len))
		return true;
	return s->value >= 10 && says_number(output->data, output->data_len, s->value);
}

static void note_answer(struct state *s, const struct check *c, uint32_t who,
			const struct trace_event *ev)
{
	const struct activity *t = &s->activities.list.at[who];
	struct reader *b = reader_of(s, who);

	if (!activity_is_answer(t, ev))
		return;
	for (size_t i = 0; i < b->reads.n; i++) {
		const struct read *r = &b->reads.at[i];

		if (r->load.request == t->request && can_be_lost(c, &r->store))
			keep_finding(s, c, r, ev->site, true, says(ev, &r->store));
	}
}

static void note_other(struct state *s, const struct check *c, uint32_t who,
		       const struct trace_event *ev)
{
	if (ev->kind == PMT_OUTPUT && s->is_awake)
		note_answer(s, c, who, ev);
	if (ev->kind == PMT_MAP)
		*vec_add(&s->maps) =
			(struct mapping){ ev->stream, ev->arg[0], ev->arg[1], ev->addr };
	if ((ev->kind == PMT_LOCK || ev->kind == PMT_UNLOCK) && (ev->arg[1] & PMT_SYNC_PM))
		ranges_add(&s->locks, ev->arg[0], ev->arg[2] ? ev->arg[2] : 8);
	s->nthreads += ev->kind == PMT_THREAD_BEGIN || ev->kind == PMT_PROCESS;
	s->is_recorded |= ev->kind == PMT_META && ev->data_len == 11 &&
			  memcmp(ev->data, "threads=yes", 11) == 0;
	candidates_step(&s->candidates, &s->activities, who, ev);
	activities_step(&s->activities, who, ev);
}

/* ---- the oracle ---- */

struct waking {
	struct state *s;
	const struct model *model;
};

static void note_older(const struct model_store *m, void *arg)
{
	const struct waking *w = arg;
	const struct trace_event ev = { .seq = m->seq,
					.site = m->site,
					.kind = m->kind,
					.stream = m->stream,
					.thread = m->thread,
					.size_bytes = m->size_bytes,
					.addr = m->addr };

	if (!is_own_work(m->site))
		newest_note(&w->s->newest, w->model, &ev, activities_who(&w->s->activities, &ev));
}

/* Wakes the oracle when there is a second thread. What may be lost now was stored by the first
 * thread; the values are unknown. */
static void wake(struct state *s, const struct check *c)
{
	struct waking w = { s, check_model(c) };

	s->is_awake = true;
	model_each(w.model, 0, UINT64_MAX, note_older, &w);
}

static void unpersisted_step(void *arg, struct check *c, const struct trace_event *ev)
{
	struct state *s = arg;
	const uint32_t who = activities_who(&s->activities, ev);

	if (!s->is_awake && s->is_recorded && s->nthreads > 1)
		wake(s, c);
	if (s->due.n > 0)
		judge_due(s, c);
	if (ev->site && who < s->readers.n && s->readers.at[who].reads.n > 0)
		note_returns(&s->readers.at[who], ev->site);
	if (ev->kind == PMT_LOAD) {
		note_load(s, c, who, ev);
		candidates_load(&s->candidates, &s->activities, who, ev);
	} else if (trace_is_store(ev->kind)) {
		if (trace_is_atomic(ev))
			note_durability(s, c, who, ev);
		note_store(s, c, who, ev);
	} else if (trace_is_flush(ev->kind) || trace_is_barrier(ev->kind) ||
		   ev->kind == PMT_MSYNC || ev->kind == PMT_FSYNC || ev->kind == PMT_FDATASYNC ||
		   ev->kind == PMT_RMW_FENCE || ev->kind == PMT_ORDER) {
		note_durability(s, c, who, ev);
	} else {
		note_other(s, c, who, ev);
	}
}

static bool is_flushed(const struct state *s, const struct trace_site *site)
{
	return site && site->id < s->is_flushed.n && s->is_flushed.at[site->id];
}

/* Is the pair reported as a finding? Then its store and load did meet, and it is no candidate. */
static bool is_found(const struct state *s, const struct candidate *one)
{
	for (size_t i = 0; i < s->found.list.n; i++)
		if (s->found.list.at[i].places[0].site == one->store &&
		    s->found.list.at[i].places[1].site == one->load)
			return true;
	return false;
}

static void note_candidates(const struct state *s, struct check *c)
{
	for (size_t i = 0; i < s->candidates.list.n; i++) {
		const struct candidate *one = &s->candidates.list.at[i];

		if (is_flushed(s, one->store) && !is_own_work(one->load) &&
		    !ranges_touch(&s->locks, one->addr, 1) && !check_is_ignored(c, one->addr, 1) &&
		    !is_found(s, one))
			check_note_candidate(c, one->store, one->load);
	}
}

static void unpersisted_finish(void *arg, struct check *c)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->readers.n; i++)
		judge(s, c, &s->readers.at[i], true);
	for (size_t i = 0; i < s->found.list.n; i++) {
		const struct finding *f = &s->found.list.at[i];

		for (uint64_t k = 0; is_flushed(s, f->places[0].site) && k < f->count; k++)
			check_report(c, f);
	}
	note_candidates(s, c);
}

/* Is the oracle asleep? It is where loads were not recorded, and until there is a second thread. */
static bool unpersisted_is_asleep(const void *state, const struct check *c)
{
	const struct state *s = state;

	(void)c;
	return !s->is_recorded || s->nthreads < 2;
}

const struct oracle oracle_unpersisted_read = {
	.name = "unpersisted-read",
	.help = "what a thread reads of another before it is durable, and then relies on: unpersisted-read",
	.classes = EVENT_STORE | EVENT_LOAD | EVENT_FLUSH | EVENT_FENCE,
	.is_asleep = unpersisted_is_asleep,
	.begin = unpersisted_begin,
	.step = unpersisted_step,
	.finish = unpersisted_finish,
	.end = unpersisted_end,
};
