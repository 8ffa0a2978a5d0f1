/* Applies events to the persistency model: what each event does to the lines. Questions to the
 * model are in query.c and states.c. The rules are in docs/model.md, with an example of each in
 * tests/litmus/. */
#include "model/internal.h"

#include <string.h>
#include <sys/mman.h>

#include "trace/owner.h"
#include "util/error.h"

struct model *model_new(const struct platform *p, const struct model_image *image)
{
	struct model *m = xcalloc(1, sizeof *m);

	if (p->line_bytes > MODEL_LINE_BYTES_MAX || p->line_bytes < PMT_LINE_BYTES ||
	    (p->line_bytes & (p->line_bytes - 1)))
		BUG("platform %s: lines of %u bytes", p->name, p->line_bytes);
	m->platform = p;
	m->line_shift = (unsigned)__builtin_ctz(p->line_bytes);
	if (image)
		m->image = *image;
	m->lines.size_bytes = (sizeof(struct line) + p->line_bytes + 7) & ~(size_t)7;
	for (unsigned room = 0; room < STORES_ROOMS; room++)
		m->stores[room].size_bytes = STORES_ROOM(room) * sizeof(struct store);
	m->rests.size_bytes = sizeof(struct store_rest);
	m->pendings.size_bytes = sizeof(struct pending);
	m->line_stores = MODEL_LINE_STORES;
	m->is_exact = true;
	/* for an amd64 recording, the machine that it is ported to is unknown; assume the one with
	 * fewer states */
	m->has_lse2 = true;
	return m;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	arena_release(&m->arena);
	map_release(&m->threads);
	vec_release(&m->thread_list);
	free(m->slots);
	free(m);
}

void model_on_durable(struct model *m, void (*f)(uint64_t seq, void *arg), void *arg)
{
	m->on_durable = f;
	m->on_durable_arg = arg;
}

void model_distrust(struct model *m)
{
	m->is_distrusting = true;
}

uint64_t model_ntrusted(const struct model *m)
{
	return m->ntrusted;
}

const struct platform *model_platform(const struct model *m)
{
	return m->platform;
}

/* ---- threads ---- */

uint64_t thread_key(uint32_t stream, uint32_t thread)
{
	return (uint64_t)stream << 32 | thread;
}

struct thread *thread_find(const struct model *m, uint32_t stream, uint32_t thread)
{
	struct thread *t = m->last_thread;

	if (t && t->stream == stream && t->number == thread)
		return t;
	return map_get(&m->threads, thread_key(stream, thread));
}

static struct thread *thread_look_up(struct model *m, const struct trace_event *ev)
{
	struct thread *t = thread_find(m, ev->stream, ev->thread);

	if (!t) {
		t = arena_alloc(&m->arena, sizeof *t);
		*t = (struct thread){ .stream = ev->stream,
				      .number = ev->thread,
				      .index = (uint32_t)m->thread_list.n,
				      .epoch = 1 };
		*vec_add(&m->thread_list) = t;
		map_set(&m->threads, thread_key(ev->stream, ev->thread), t);
	}
	m->last_thread = t;
	return t;
}

static inline struct thread *thread_of(struct model *m, const struct trace_event *ev)
{
	struct thread *t = m->last_thread;

	return t && t->stream == ev->stream && t->number == ev->thread ? t : thread_look_up(m, ev);
}

/* ---- pendings ---- */

struct pending *pending_add(struct model *m, struct line *l, struct thread *t)
{
	struct pending *p = line_pending(l, t);

	if (p)
		return p;
	p = pool_get(&m->pendings, &m->arena);
	*p = (struct pending){
		.in_line = l->pendings, .next = t->pendings, .line = l, .thread = t
	};
	if (p->next)
		p->next->prev = p;
	t->pendings = l->pendings = p;
	return p;
}

/* Makes durable what the thread has flushed in a line. */
static void pending_complete(struct model *m, struct pending *p)
{
	struct thread *t = p->thread;
	struct line *l = p->line;
	uint64_t upto = p->upto;
	struct pending **link;

	for (link = &l->pendings; *link != p; link = &(*link)->in_line)
		;
	*link = p->in_line;
	*(p->prev ? &p->prev->next : &t->pendings) = p->next;
	if (p->next)
		p->next->prev = p->prev;
	pool_put(&m->pendings, p);
	line_persist(m, l, upto, t);
}

/* Makes durable everything that waits for a fence of this thread. */
static void step_fence(struct model *m, struct thread *t)
{
	if (!m->platform->has_flush)
		return;
	while (t->pendings)
		pending_complete(m, t->pendings);
}

/* Applies clwb or clflushopt: the line as it is now becomes durable at this thread's next fence. */
static void step_flush_later(struct model *m, struct thread *t, const struct trace_event *ev)
{
	struct pending *p;
	struct line *l;

	if (!m->platform->has_flush)
		return;
	l = line_find(m, ev->addr);
	if (!l)
		return;
	p = pending_add(m, l, t);
	p->upto = ev->seq;
	p->flush = ev->site;
}

/* Applies a dc of Arm to each line of the model that the dc flushes: the machine's lines may be
 * longer than 64 bytes. */
static void step_dc(struct model *m, struct thread *t, const struct trace_event *ev)
{
	struct trace_event part = *ev;
	uint64_t len_bytes, start = platform_flushed(ev, &len_bytes);

	if (platform_flush(m->platform, ev->kind) != FLUSH_AT_FENCE)
		return;
	for (part.addr = start; part.addr - start < len_bytes; part.addr += PMT_LINE_BYTES)
		step_flush_later(m, t, &part);
}

/* Applies clflush: what is in the cache becomes durable at once. The thread's writes are not
 * reordered with it, so its own non-temporal stores to the line have left their buffer. */
static void step_flush_now(struct model *m, const struct thread *t, const struct trace_event *ev)
{
	struct line *l;

	if (!m->platform->has_flush)
		return;
	l = line_find(m, ev->addr);
	if (l)
		line_persist(m, l, ev->seq, t);
}

/* ---- stores ---- */

bool model_is_open(const struct model *m, const struct trace_event *ev)
{
	const bool is_string = ev->kind == PMT_STORE_VECTOR && ev->arg[0] <= 8;

	return m->platform->is_cache_durable && !is_late(m) &&
	       (is_string || ev->kind == PMT_STORE_SYS) && store_unit_bytes(m, ev);
}

/* Ends a copy by a string instruction or the kernel: now all of it is visible. */
static void settle_open(struct model *m)
{
	const struct open_store open = m->open;
	struct line_walk walk;
	struct line *l;

	m->open = (struct open_store){ 0 };
	line_walk_init(&walk, m, open.addr, open.len_bytes);
	while ((l = line_walk_next(&walk)))
		line_persist(m, l, open.seq, NULL);
	line_walk_release(&walk);
}

/* Adds the part of a store that is in one line: ev's bytes from `skip` on. */
static void store_part(struct model *m, struct thread *t, const struct trace_event *ev,
		       uint32_t skip, uint32_t size_bytes)
{
	bool is_waiting = platform_is_unordered(m->platform, ev) || (is_late(m) && !is_release(ev));
	struct line *l;

	if (model_is_open(m, ev)) {
		m->open = (struct open_store){ ev->addr, ev->size_bytes, ev->seq };
		line_add_store(m, line_find_or_add(m, ev->addr + skip), t, ev, skip, size_bytes);
		return;
	}
	if (m->platform->is_cache_durable && !is_waiting && !line_find(m, ev->addr + skip)) {
		if (m->image.write)
			m->image.write(m->image.arg, ev->addr + skip, ev->data + skip, size_bytes);
		tell_durable(m, ev->seq);
		return;
	}
	l = line_find_or_add(m, ev->addr + skip);
	line_add_store(m, l, t, ev, skip, size_bytes);
	if (is_waiting)
		pending_add(m, l, t);
	else if (m->platform->is_cache_durable)
		line_persist(m, l, ev->seq, NULL);
}

/* Makes the waiting stores of all other threads durable: between threads, what was stored first
 * reaches the cache first. */
static void others_arrive(struct model *m, const struct thread *t)
{
	for (size_t i = 0; i < m->thread_list.n; i++)
		if (m->thread_list.at[i] != t)
			step_fence(m, m->thread_list.at[i]);
}

bool model_is_flushed(const struct model *m, const struct trace_event *ev)
{
	return ev->kind == PMT_STORE_NT && model_is_ported(m) && !m->is_distrusting &&
	       owner_of_site(ev->site) == OWNER_PMDK;
}

static void flush_stored(struct model *m, struct thread *t, const struct trace_event *ev)
{
	struct trace_event flush = *ev;

	for (flush.addr = line_start(m, ev->addr); flush.addr < ev->addr + ev->size_bytes;
	     flush.addr += m->platform->line_bytes)
		step_flush_later(m, t, &flush);
}

static void step_store(struct model *m, struct thread *t, const struct trace_event *ev)
{
	const uint32_t line_bytes = m->platform->line_bytes;
	uint32_t size_bytes = ev->size_bytes, skip = 0, part;

	if (size_bytes > PMT_STORE_MAX_BYTES)
		BUG("a store of %u bytes", size_bytes);
	if (ev->kind != PMT_STORE_NT && !m->platform->is_cache_durable && size_bytes &&
	    (ev->addr & (line_bytes - 1)) + size_bytes <= line_bytes) {
		/* nearly all are such: nothing of what follows is about them */
		line_add_store(m, line_find_or_add(m, ev->addr), t, ev, 0, size_bytes);
		return;
	}
	if (is_late(m))
		others_arrive(m, t);
	for (; skip < size_bytes; skip += part) {
		part = line_bytes - (uint32_t)((ev->addr + skip) & (line_bytes - 1));
		if (part > size_bytes - skip)
			part = size_bytes - skip;
		store_part(m, t, ev, skip, part);
	}
	if (model_is_flushed(m, ev))
		flush_stored(m, t, ev);
}

/* ---- order and completion ---- */

/* Asks whether the event is a dmb inside PMDK, whose libraries flush with dc and rely on dmb. Users
 * of PMDK cannot fix that. */
static bool is_trusted(const struct model *m, const struct trace_event *ev)
{
	return ev->kind == PMT_DMB && m->platform->is_weak && !m->is_distrusting &&
	       platform_is_store_barrier(ev) && owner_of_site(ev->site) == OWNER_PMDK;
}

/* Asks whether a dsb with this option completes flushes. An option with neither bit is reserved,
 * and executes as sy. */
static bool is_full_dsb(uint64_t option)
{
	uint64_t accesses = option & (PMT_BARRIER_LOADS | PMT_BARRIER_STORES);

	return !accesses || (accesses == (PMT_BARRIER_LOADS | PMT_BARRIER_STORES) &&
			     PMT_BARRIER_DOMAIN(option) != PMT_DOMAIN_NSH);
}

bool model_completes(const struct model *m, const struct trace_event *ev)
{
	if (!m->platform->has_flush)
		return false;
	if (is_late(m))
		return platform_is_store_barrier(ev) || is_release(ev) ||
		       (ev->kind == PMT_ORDER && (ev->arg[0] & PMT_ORDER_RELEASE));
	switch (ev->kind) {
	case PMT_SFENCE:
	case PMT_MFENCE: return true;
	case PMT_RMW_FENCE:
	case PMT_STORE_RMW: return !m->platform->is_weak;
	case PMT_DSB: return is_full_dsb(ev->arg[0]);
	case PMT_DMB: return is_trusted(m, ev);
	default: return false; /* waits for nothing */
	}
}

/* The order of a thread's stores on arm64 is kept in epochs: a store belongs to an epoch, and
 * follows all stores up to another epoch.
 *
 * A barrier ends an epoch, and everything later follows that. A release ends an epoch, too, but
 * later stores follow it only after an acquire: `stlr; str` is not ordered, `stlr; ldar; str`
 * is. */
static void order_barrier(struct thread *t, uint64_t seq)
{
	t->after = t->epoch++;
	t->after_seq = seq;
}

/* Ends an epoch with a release. Called after the release's own store was added, so that this store
 * belongs to the epoch that ends. */
static void order_release(struct thread *t, uint64_t seq)
{
	t->released = t->epoch++;
	t->released_seq = seq;
}

static void order_acquire(struct thread *t)
{
	if (t->released <= t->after)
		return;
	t->after = t->released;
	t->after_seq = t->released_seq;
}

static void step_barrier(struct model *m, struct thread *t, const struct trace_event *ev)
{
	if (model_completes(m, ev)) {
		m->ntrusted += ev->kind == PMT_DMB && !is_late(m) && t->pendings;
		step_fence(m, t);
	}
	if (ev->kind == PMT_SFENCE || ev->kind == PMT_MFENCE || platform_is_store_barrier(ev))
		order_barrier(t, ev->seq);
}

#define ACQUIRE_RELEASE (PMT_ORDER_ACQUIRE | PMT_ORDER_RELEASE)

/* Applies the order of an access after its own store, if any. A single instruction that is both
 * acquire and release orders like a barrier. */
static void step_order(struct thread *t, uint64_t order, uint64_t seq)
{
	if ((order & ACQUIRE_RELEASE) == ACQUIRE_RELEASE && (order & PMT_ORDER_ATOMIC))
		order_barrier(t, seq);
	else if (order & PMT_ORDER_RELEASE)
		order_release(t, seq);
}

static void step_ordered(struct model *m, struct thread *t, const struct trace_event *ev,
			 uint64_t order)
{
	if (model_completes(m, ev))
		step_fence(m, t);
	if (order & PMT_ORDER_ACQUIRE)
		order_acquire(t);
	if (trace_is_store(ev->kind))
		step_store(m, t, ev);
	step_order(t, order, ev->seq);
}

/* Applies a locked instruction of amd64. On arm64 it would be an atomic with acquire and
 * release. */
static void step_locked(struct model *m, struct thread *t, const struct trace_event *ev)
{
	step_ordered(m, t, ev, ACQUIRE_RELEASE | PMT_ORDER_ATOMIC);
}

/* Reads what the trace says about the recorded machine. Traces without it are of amd64. */
static void step_meta(struct model *m, const struct trace_event *ev)
{
	static const char isa[] = "isa=arm64", lse2[] = "lse2=1";

	if (ev->data_len == sizeof isa - 1 && memcmp(ev->data, isa, ev->data_len) == 0) {
		m->is_arm64 = true;
		m->has_lse2 = false;
	} else if (ev->data_len == sizeof lse2 - 1 && memcmp(ev->data, lse2, ev->data_len) == 0) {
		m->has_lse2 = true;
	}
}

/* ---- msync and fsync ---- */

/* Applies a sync of a range. The kernel writes back what is in the cache, and fences in the
 * caller's context. So the caller's own non-temporal stores to the range are drained, but those of
 * other threads may still be in their buffers. */
static void step_sync(struct model *m, const struct trace_event *ev, uint64_t addr,
		      uint64_t len_bytes)
{
	const struct thread *t = thread_of(m, ev);
	struct line_walk walk;
	struct line *l;

	line_walk_init(&walk, m, addr, len_bytes);
	while ((l = line_walk_next(&walk)))
		line_persist(m, l, ev->seq, t);
	line_walk_release(&walk);
}

/* Makes durable what the thread has flushed in one line, as a fence would that waits for this line
 * only. */
static void complete_line(struct model *m, struct thread *t, uint64_t addr)
{
	struct line *l = line_find(m, addr);
	struct pending *p = l ? line_pending(l, t) : NULL;

	if (p)
		pending_complete(m, p);
}

static void step_msync(struct model *m, const struct trace_event *ev)
{
	uint64_t len_bytes, start = platform_synced(ev, &len_bytes);

	if (len_bytes && ev->arg[2] == MODEL_COMPLETE)
		complete_line(m, thread_of(m, ev), start);
	else if (len_bytes)
		step_sync(m, ev, start, len_bytes);
}

static void step_fsync(struct model *m, const struct trace_event *ev)
{
	uint32_t file = (uint32_t)ev->arg[0];

	if (file)
		step_sync(m, ev, PMT_ADDR(file, 0), PMT_ADDR(1, 0));
	else
		step_sync(m, ev, 0, UINT64_MAX);
}

/* ---- events ---- */

void model_step(struct model *m, const struct trace_event *ev)
{
	if (m->open.seq)
		settle_open(m);
	switch (ev->kind) {
	case PMT_STORE:
	case PMT_STORE_NT:
	case PMT_STORE_SYS:
	case PMT_STORE_PAIR:
	case PMT_STORE_VECTOR: step_store(m, thread_of(m, ev), ev); return;
	case PMT_WRITE: step_write(m, thread_of(m, ev), ev); return;
	case PMT_STORE_RMW:
		/* its second fence has nothing left to complete */
		if (m->platform->is_weak) {
			step_locked(m, thread_of(m, ev), ev);
		} else {
			step_fence(m, thread_of(m, ev));
			step_store(m, thread_of(m, ev), ev);
		}
		return;
	case PMT_STORE_ORDERED:
	case PMT_ORDER: step_ordered(m, thread_of(m, ev), ev, ev->arg[0]); return;
	case PMT_CLFLUSH:
		if (m->platform->is_weak)
			step_flush_later(m, thread_of(m, ev), ev);
		else
			step_flush_now(m, thread_of(m, ev), ev);
		return;
	case PMT_CLFLUSHOPT:
	case PMT_CLWB: step_flush_later(m, thread_of(m, ev), ev); return;
	case PMT_DC_CVAC:
	case PMT_DC_CIVAC:
	case PMT_DC_CVAP:
	case PMT_DC_CVADP: step_dc(m, thread_of(m, ev), ev); return;
	case PMT_SFENCE:
	case PMT_MFENCE:
		if (m->platform->is_weak)
			step_barrier(m, thread_of(m, ev), ev);
		else
			step_fence(m, thread_of(m, ev));
		return;
	case PMT_DMB:
	case PMT_DSB: step_barrier(m, thread_of(m, ev), ev); return;
	case PMT_RMW_FENCE:
		if (m->platform->is_weak)
			step_locked(m, thread_of(m, ev), ev);
		else
			step_fence(m, thread_of(m, ev));
		return;
	case PMT_OLD: step_old(m, ev); return;
	case PMT_META: step_meta(m, ev); return;
	case PMT_MSYNC: step_msync(m, ev); return;
	case PMT_FSYNC:
	case PMT_FDATASYNC: step_fsync(m, ev); return;
	/* An unmapped file is still the same memory, also for others that map it. A hole or a new
	 * size is not a store: it changes which bytes exist, not which are durable. Notes and
	 * annotations are not instructions. */
	case PMT_LOAD:
	case PMT_LFENCE:
	case PMT_FILE:
	case PMT_CONTENT:
	case PMT_SIZE:
	case PMT_FALLOCATE:
	case PMT_RENAME:
	case PMT_UNLINK:
	case PMT_MAP:
	case PMT_UNMAP:
	case PMT_PROTECT:
	case PMT_NOT_PM:
	case PMT_IS_PM:
	case PMT_SET_CLEAN:
	case PMT_TX_BEGIN:
	case PMT_TX_END:
	case PMT_TX_ADD:
	case PMT_TX_REMOVE:
	case PMT_TX_JOIN:
	case PMT_TX_LEAVE:
	case PMT_TX_IGNORE:
	case PMT_NOTE_FLUSH:
	case PMT_NOTE_FENCE:
	case PMT_LOG:
	case PMT_ROI_BEGIN:
	case PMT_ROI_END:
	case PMT_FAILURE_POINT:
	case PMT_SKIP_FAILURE_BEGIN:
	case PMT_SKIP_FAILURE_END:
	case PMT_SKIP_CHECK_BEGIN:
	case PMT_SKIP_CHECK_END:
	case PMT_COMMIT_VAR:
	case PMT_COMMIT_RANGE:
	case PMT_OP_BEGIN:
	case PMT_OP_END:
	case PMT_ASSERT_DURABLE:
	case PMT_ASSERT_ORDERED:
	case PMT_IGNORE:
	case PMT_DONE:
	case PMT_PROCESS:
	case PMT_FORK:
	case PMT_EXEC:
	case PMT_EXIT:
	case PMT_SIGNAL:
	case PMT_THREAD_BEGIN:
	case PMT_THREAD_END:
	case PMT_OUTPUT:
	case PMT_INPUT:
	case PMT_INCOMPLETE:
	case PMT_FLUSH_VOLATILE:
	case PMT_TX_ADD_CALL:
	case PMT_UNDEFINED:
	case PMT_NAME:
	case PMT_UNNAME:
	case PMT_MOVE:
	case PMT_SYNC_RANGE:
	case PMT_LOCK:
	case PMT_UNLOCK:
	case PMT_ACQUIRE:
	case PMT_RELEASE:
	case PMT_SCHEDULE:
	case PMT_NKINDS: return;
	}
}
