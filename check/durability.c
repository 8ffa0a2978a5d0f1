/* Reports stores that are not durable when the program ends, or when their mapping is removed:
 * missing-flush (no write-back, but a fence of the thread follows), missing-fence (a write-back
 * without a later fence), missing-flush-fence (neither). A removed mapping is no problem if msync
 * or fsync comes later. A flush that only a fence inside libc or ld.so completes counts as
 * missing-fence, because the program cannot rely on that fence. If a thread was cut off, what it
 * had no chance to flush or fence is no bug, and is reported as such. If a word is only
 * incremented, or used as a lock, the finding says so; a second pass over the events finds that
 * out. */
#include "check/oracle.h"

#include <stdlib.h>

#include "check/orphans.h"
#include "check/usage.h"
#include "check/word_table.h"
#include "util/alloc.h"
#include "util/map.h"
#include "util/vec.h"

static const char KIND_FLUSH[] = "missing-flush", KIND_FENCE[] = "missing-fence",
		  KIND_BOTH[] = "missing-flush-fence";

/* A finding that is reported at the end. */
struct held {
	struct finding finding;
	uint64_t addr;
	bool is_alone; /* the word's value before was durable */
};

/* A useful flush, or a non-temporal store, that no fence of the program itself has followed yet.
 * Kept small, because there is one per flush. */
struct flush {
	const struct trace_site *site, *store_site; /* the flush; the store that may be lost */
	uint64_t store_seq;                         /* 0: no store may be lost */
	struct range store;
	uint64_t addr, seq;
	uint32_t stream, thread;
	bool is_nt;        /* a non-temporal store, which has no flush */
	bool is_completed; /* by a fence that is not the program's */
};

/* The last fence of a thread in its own code. */
struct fenced {
	uint32_t stream, thread;
	uint64_t seq;
};

/* The last clean of a line that stopped before the point where data is durable (arm64). */
struct shorter {
	const struct trace_site *site;
	uint64_t seq;
};

struct state {
	struct map shorter; /* by number of the line */
	VEC(struct shorter *) all_shorter;
	struct orphans orphans;
	VEC(struct flush) flushes;
	VEC(struct fenced) fenced; /* by thread; few */
	VEC(struct held) held;
	struct usage usage;
	/* bytes that the program announced as flushed (pmemcheck's DO_FLUSH) since they were
	 * stored */
	struct ranges announced;
};

static const char ANNOUNCED[] =
	"the program announces a flush of it to pmemcheck (DO_FLUSH) and executes none, as if "
	"it need not be durable";

static void *durability_begin(void)
{
	return xcalloc(1, sizeof(struct state));
}

static void durability_end(void *arg)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->all_shorter.n; i++)
		free(s->all_shorter.at[i]);
	vec_release(&s->all_shorter);
	map_release(&s->shorter);
	orphans_release(&s->orphans);
	vec_release(&s->flushes);
	vec_release(&s->fenced);
	vec_release(&s->held);
	usage_release(&s->usage);
	ranges_release(&s->announced);
	free(s);
}

static struct fenced *fenced_of(struct state *s, uint32_t stream, uint32_t thread)
{
	for (size_t i = 0; i < s->fenced.n; i++)
		if (s->fenced.at[i].stream == stream && s->fenced.at[i].thread == thread)
			return &s->fenced.at[i];
	*vec_add(&s->fenced) = (struct fenced){ stream, thread, 0 };
	return &s->fenced.at[s->fenced.n - 1];
}

/* Changes a finding's message if its thread was cut off and had no chance to flush or fence. */
static void excuse(struct finding *f, const struct check *c, uint32_t stream, uint32_t thread,
		   uint64_t seq)
{
	if (!check_is_cut(c, stream, thread, seq))
		return;
	f->is_cut = true;
	f->message =
		f->kind == KIND_FENCE
			? "flushed or stored non-temporally, but not fenced when the recording ended"
			: "stored, but not flushed when the recording ended";
}

static void excuse_store(struct finding *f, const struct check *c, const struct model_store *s)
{
	if (s->state == MODEL_PENDING && s->flush)
		excuse(f, c, s->flush_stream, s->flush_thread, s->flush_seq);
	else
		excuse(f, c, s->stream, s->thread, s->seq);
}

/* Finds the clean to the point of coherency that followed a store, if nothing else has written the
 * store back. */
static const struct shorter *shorter_of(const struct state *state, const struct model_store *s)
{
	const struct shorter *found = map_get(&state->shorter, s->addr / PMT_LINE_BYTES);

	return s->state == MODEL_DIRTY && found && found->seq > s->seq ? found : NULL;
}

static struct finding finding_of(struct state *state, const struct platform *p,
				 const struct model_store *s)
{
	struct finding f = { .first_seq = s->seq,
			     .nplaces = 1,
			     .places = { { "store", s->site } } };
	static const char unsynced[] =
		"no msync or fsync follows this store: it may never become durable";
	const struct shorter *cleaned = shorter_of(state, s);

	if (cleaned) {
		f.kind = KIND_FLUSH;
		f.message =
			"this store is flushed only to the point of coherency (dc cvac, dc civac), where data is not durable; use dc cvap";
		f.places[f.nplaces++] = (struct finding_place){ "flush", cleaned->site };
	} else if (s->state == MODEL_PENDING) {
		f.kind = KIND_FENCE;
		f.message =
			p->is_weak
				? "this store is flushed, but no dsb (sy, ish or osh) of the same thread follows: it may never become "
				  "durable; dmb, other forms of dsb and atomics do not complete a flush"
			: s->flush
				? "this store is flushed, but no fence of the same thread follows: it may never become durable"
				: "no fence of the same thread follows this non-temporal store: it may never become durable";
		if (s->flush)
			f.places[f.nplaces++] = (struct finding_place){ "flush", s->flush };
	} else if (fenced_of(state, s->stream, s->thread)->seq > s->seq) {
		f.kind = KIND_FLUSH;
		f.message = p->has_flush
				    ? "this store is never flushed; the later fence does not help"
				    : unsynced;
	} else {
		f.kind = KIND_BOTH;
		f.message = p->has_flush ? "this store is never flushed, and no fence follows"
					 : unsynced;
	}
	return f;
}

/* ---- removed mappings ---- */

struct walk {
	struct state *state;
	struct check *check;
	const struct map *orphan_seqs; /* seq of stores that are orphans at the end */
};

/* Does the store not matter? A late store is on its way by itself: the program need not do
 * anything. */
static bool is_harmless(const struct check *c, const struct model_store *s)
{
	return s->is_overwritten || s->state == MODEL_LATE ||
	       check_is_ignored(c, s->addr, s->size_bytes);
}

static bool is_orphan(const struct model_store *s, struct finding *f, void *arg)
{
	const struct walk *w = arg;

	if (is_harmless(w->check, s))
		return false;
	*f = finding_of(w->state, check_platform(w->check), s);
	return true;
}

/* ---- flushes and the fences that complete them ---- */

static void note_flush(struct state *s, struct check *c, const struct trace_event *ev)
{
	struct range line = check_written_back(c, ev);
	struct model_store first;
	struct flush *f;

	if (check_flush_use(c, ev) != MODEL_USEFUL)
		return;
	f = vec_add(&s->flushes);
	*f = (struct flush){ .site = ev->site,
			     .addr = line.from,
			     .seq = ev->seq,
			     .stream = ev->stream,
			     .thread = ev->thread };
	if (!model_first_dirty(check_model(c), line.from, line.to - line.from, &first))
		return;
	f->store_site = first.site;
	f->store_seq = first.seq;
	f->store = (struct range){ first.addr, first.addr + first.size_bytes };
}

static void note_shorter_line(struct state *s, uint64_t line, const struct trace_event *ev)
{
	struct shorter *found = map_get(&s->shorter, line);

	if (!found) {
		found = xcalloc(1, sizeof *found);
		*vec_add(&s->all_shorter) = found;
		map_set(&s->shorter, line, found);
	}
	*found = (struct shorter){ ev->site, ev->seq };
}

static void note_shorter(struct state *s, const struct trace_event *ev)
{
	uint64_t len_bytes, start = platform_flushed(ev, &len_bytes);

	for (uint64_t addr = start; addr - start < len_bytes; addr += PMT_LINE_BYTES)
		note_shorter_line(s, addr / PMT_LINE_BYTES, ev);
}

static void note_nt_store(struct state *s, const struct trace_event *ev)
{
	*vec_add(&s->flushes) = (struct flush){ .is_nt = true,
						.addr = ev->addr,
						.seq = ev->seq,
						.store_site = ev->site,
						.store_seq = ev->seq,
						.store = { ev->addr, ev->addr + ev->size_bytes },
						.stream = ev->stream,
						.thread = ev->thread };
}

static void note_fence(struct state *s, struct check *c, const struct trace_event *ev)
{
	bool is_own = !check_is_runtime_code(ev->site) && !check_has_exited(c, ev->stream);
	size_t kept = 0;

	if (is_own)
		fenced_of(s, ev->stream, ev->thread)->seq = ev->seq;
	for (size_t i = 0; i < s->flushes.n; i++) {
		struct flush *f = &s->flushes.at[i];

		if (f->stream != ev->stream || f->thread != ev->thread) {
			s->flushes.at[kept++] = *f;
		} else if (!is_own) {
			f->is_completed = true;
			s->flushes.at[kept++] = *f;
		}
	}
	s->flushes.n = kept;
}

/* Drops flushes whose lines the kernel wrote back. That does not complete non-temporal stores of
 * other threads. */
static void forget_flushes(struct state *s, const struct trace_event *ev, struct range synced)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->flushes.n; i++) {
		const struct flush *f = &s->flushes.at[i];
		bool is_reached = !f->is_nt || (f->stream == ev->stream && f->thread == ev->thread);

		if (!is_reached || f->addr < synced.from || f->addr >= synced.to)
			s->flushes.at[kept++] = *f;
	}
	s->flushes.n = kept;
}

/* Is the event a fence? On a platform without flushes, fences still count, because they show which
 * kind of bug it is. */
static bool is_fence(const struct check *c, const struct trace_event *ev)
{
	if (check_platform(c)->has_flush)
		return model_completes(check_model(c), ev);
	return ev->kind == PMT_SFENCE || ev->kind == PMT_MFENCE || ev->kind == PMT_RMW_FENCE ||
	       ev->kind == PMT_STORE_RMW || ev->kind == PMT_DSB;
}

static void step_fence(struct state *s, struct check *c, const struct trace_event *ev)
{
	if (is_fence(c, ev))
		note_fence(s, c, ev);
}

static void step_store(struct state *s, struct check *c, const struct trace_event *ev)
{
	orphans_note_store(&s->orphans, check_model(c), ev);
	if (s->announced.list.n)
		ranges_remove(&s->announced, ev->addr, ev->data_len);
	if (platform_is_unordered(check_platform(c), ev))
		note_nt_store(s, ev);
	else if (ev->kind == PMT_STORE_RMW || ev->kind == PMT_STORE_ORDERED)
		step_fence(s, c, ev);
}

static void step_flush(struct state *s, struct check *c, const struct trace_event *ev)
{
	const enum platform_flush flush = platform_flush(check_platform(c), ev->kind);

	if (flush == FLUSH_AT_FENCE)
		note_flush(s, c, ev);
	else if (flush == FLUSH_SHORT)
		note_shorter(s, ev);
}

static void durability_step(void *arg, struct check *c, const struct trace_event *ev)
{
	struct state *s = arg;
	struct walk w = { s, c, NULL };

	s->orphans.line_bytes = check_platform(c)->line_bytes;
	if (trace_is_store(ev->kind)) {
		step_store(s, c, ev);
		return;
	}
	if (trace_is_flush(ev->kind)) {
		step_flush(s, c, ev);
		return;
	}
	switch (ev->kind) {
	case PMT_SFENCE:
	case PMT_MFENCE:
	case PMT_RMW_FENCE:
	case PMT_ORDER:
	case PMT_DMB:
	case PMT_DSB: step_fence(s, c, ev); break;
	case PMT_NOTE_FLUSH:
		if (!check_is_pmdk_code(ev->site))
			ranges_add(&s->announced, ev->addr, ev->arg[0]);
		break;
	case PMT_UNMAP:
		orphans_unmap(&s->orphans, check_model(c), ev->addr, ev->arg[1], is_orphan, &w);
		break;
	case PMT_MSYNC:
	case PMT_FSYNC:
	case PMT_FDATASYNC:
		orphans_forget(&s->orphans, check_written_back(c, ev));
		forget_flushes(s, ev, check_written_back(c, ev));
		break;
	default: break; /* nothing else makes data durable or removes a mapping */
	}
}

/* Keeps a finding until the second pass has shown how the word is used. */
static void hold(struct state *s, const struct finding *f, uint64_t addr, uint64_t len_bytes,
		 bool is_alone)
{
	*vec_add(&s->held) = (struct held){ *f, addr, is_alone };
	if (len_bytes <= WORD_BYTES)
		usage_watch(&s->usage, addr, (uint32_t)len_bytes);
}

static void count_store(const struct model_store *s, void *arg)
{
	(void)s;
	++*(size_t *)arg;
}

static void report_store(const struct model_store *s, void *arg)
{
	const struct walk *w = arg;
	size_t nstores = 0;
	struct finding f;

	if (is_harmless(w->check, s))
		return;
	if (map_get(w->orphan_seqs, s->seq))
		return; /* is reported as an orphan */
	f = finding_of(w->state, check_platform(w->check), s);
	excuse_store(&f, w->check, s);
	if (ranges_cover(&w->state->announced, s->addr, s->size_bytes))
		f.reason = ANNOUNCED;
	model_each(check_model(w->check), s->addr, s->size_bytes, count_store, &nstores);
	hold(w->state, &f, s->addr, s->size_bytes, nstores == 1);
}

/* Reports a flush that only a fence inside a system library completes. */
static void report_completed(struct check *c, const struct flush *f)
{
	struct finding finding = { .kind = KIND_FENCE, .first_seq = f->store_seq };

	if (check_is_ignored(c, f->store.from, f->store.to - f->store.from))
		return;
	finding.message =
		f->is_nt
			? "the program has no fence of its own after this non-temporal store; only a fence inside a system library "
			  "completes it"
			: "this store is flushed, but the program has no fence of its own after the flush; only a fence inside a system "
			  "library completes it";
	if (f->store_seq)
		finding.places[finding.nplaces++] =
			(struct finding_place){ "store", f->store_site };
	if (!f->is_nt)
		finding.places[finding.nplaces++] = (struct finding_place){ "flush", f->site };
	excuse(&finding, c, f->stream, f->thread, f->seq); /* its own fence might have come next */
	check_report(c, &finding);
}

static void durability_finish(void *arg, struct check *c)
{
	struct state *s = arg;
	struct map seqs = { 0 };
	struct walk w = { s, c, &seqs };

	orphans_forget_gone(&s->orphans);
	for (size_t i = 0; i < s->orphans.list.n; i++)
		map_set(&seqs, s->orphans.list.at[i].seq, s);
	model_each(check_model(c), 0, UINT64_MAX, report_store, &w);
	map_release(&seqs);
	for (size_t i = 0; i < s->orphans.list.n; i++) {
		struct orphan *o = &s->orphans.list.at[i];

		if (!check_platform(c)->has_flush) /* on other platforms it can still be flushed */
			excuse(&o->finding, c, o->stream, o->thread, o->seq);
		hold(s, &o->finding, o->addr, o->len_bytes, false);
	}
	for (size_t i = 0; i < s->flushes.n; i++)
		if (s->flushes.at[i].is_completed)
			report_completed(c, &s->flushes.at[i]);
}

static bool durability_wants_again(const void *arg)
{
	return ((const struct state *)arg)->held.n > 0;
}

static void durability_step_again(void *arg, struct check *c, const struct trace_event *ev)
{
	(void)c;
	usage_step(&((struct state *)arg)->usage, ev);
}

static void durability_finish_again(void *arg, struct check *c)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->held.n; i++) {
		struct finding *f = &s->held.at[i].finding;

		if (!f->is_cut && f->nplaces == 1)
			usage_tell(&s->usage, s->held.at[i].addr, s->held.at[i].is_alone, f);
		check_report(c, f);
	}
}

const struct oracle oracle_durability = {
	.name = "durability",
	.help = "stores that may not be durable at the end: missing-flush, missing-fence, missing-flush-fence",
	.classes = EVENT_STORE | EVENT_FLUSH | EVENT_FENCE,
	.begin = durability_begin,
	.step = durability_step,
	.finish = durability_finish,
	.end = durability_end,
	.wants_again = durability_wants_again,
	.step_again = durability_step_again,
	.finish_again = durability_finish_again,
};
