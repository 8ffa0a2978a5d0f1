/* The persistency model: what each event does to the lines. Purely about durability; who asks what for is in query.c and
 * states.c. docs/model.md has the rules, tests/litmus/ an example of each. */
#include "model/internal.h"

#include <string.h>
#include <sys/mman.h>

#include "util/error.h"

struct model *model_new(const struct platform *p, const struct model_image *image)
{
	struct model *m = xcalloc(1, sizeof *m);

	if (p->line_bytes > MODEL_LINE_BYTES_MAX || p->line_bytes < PMT_LINE_BYTES || (p->line_bytes & (p->line_bytes - 1)))
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

const struct platform *model_platform(const struct model *m)
{
	return m->platform;
}

/* ---- threads ---- */

static uint64_t thread_key(uint32_t stream, uint32_t thread)
{
	return (uint64_t)stream << 32 | thread;
}

struct thread *thread_find(const struct model *m, uint32_t stream, uint32_t thread)
{
	return map_get(&m->threads, thread_key(stream, thread));
}

static struct thread *thread_of(struct model *m, const struct trace_event *ev)
{
	struct thread *t = m->last_thread;

	if (t && t->stream == ev->stream && t->number == ev->thread)
		return t;
	t = thread_find(m, ev->stream, ev->thread);
	if (!t) {
		t = arena_alloc(&m->arena, sizeof *t);
		*t = (struct thread){ .stream = ev->stream, .number = ev->thread, .index = (uint32_t)m->thread_list.n };
		*vec_add(&m->thread_list) = t;
		map_set(&m->threads, thread_key(ev->stream, ev->thread), t);
	}
	m->last_thread = t;
	return t;
}

/* ---- pendings ---- */

static struct pending *pending_add(struct model *m, struct line *l, struct thread *t)
{
	struct pending *p = line_pending(l, t);

	if (p)
		return p;
	p = pool_get(&m->pendings, &m->arena);
	*p = (struct pending){ .in_line = l->pendings, .next = t->pendings, .line = l, .thread = t };
	if (p->next)
		p->next->prev = p;
	t->pendings = l->pendings = p;
	return p;
}

/* All that waited for a fence of this thread is durable. */
static void step_fence(struct model *m, struct thread *t)
{
	struct pending *p, **link;
	struct line *l;

	if (!m->platform->has_flush)
		return;
	while ((p = t->pendings)) {
		uint64_t upto = p->upto;

		l = p->line;
		for (link = &l->pendings; *link != p; link = &(*link)->in_line)
			;
		*link = p->in_line;
		t->pendings = p->next;
		if (p->next)
			p->next->prev = NULL;
		pool_put(&m->pendings, p);
		line_persist(m, l, upto, t);
	}
}

/* clwb and clflushopt: the line as it is now will be durable at this thread's next fence. */
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

/* clflush: what is in the cache is durable at once. Non-temporal stores are not in the cache. */
static void step_flush_now(struct model *m, const struct trace_event *ev)
{
	struct line *l;

	if (!m->platform->has_flush)
		return;
	l = line_find(m, ev->addr);
	if (l)
		line_persist(m, l, ev->seq, NULL);
}

/* ---- stores ---- */

/* What of a store lies in one line: ev's bytes from `skip` on. */
static void store_part(struct model *m, struct thread *t, const struct trace_event *ev, uint32_t skip, uint32_t size_bytes)
{
	struct line *l;

	if (m->platform->is_cache_durable && !platform_is_unordered(m->platform, ev) && !line_find(m, ev->addr + skip)) {
		if (m->image.write)
			m->image.write(m->image.arg, ev->addr + skip, ev->data + skip, size_bytes);
		tell_durable(m, ev->seq);
		return;
	}
	l = line_find_or_add(m, ev->addr + skip);
	line_add_store(m, l, t, ev, skip, size_bytes);
	if (platform_is_unordered(m->platform, ev))
		pending_add(m, l, t);
	else if (m->platform->is_cache_durable)
		line_persist(m, l, ev->seq, NULL);
}

static void step_store(struct model *m, struct thread *t, const struct trace_event *ev)
{
	uint32_t size_bytes = ev->size_bytes, skip = 0, part;

	if (size_bytes > PMT_STORE_MAX_BYTES)
		BUG("a store of %u bytes", size_bytes);
	for (; skip < size_bytes; skip += part) {
		part = m->platform->line_bytes - (uint32_t)((ev->addr + skip) & (m->platform->line_bytes - 1));
		if (part > size_bytes - skip)
			part = size_bytes - skip;
		store_part(m, t, ev, skip, part);
	}
}

/* ---- msync and fsync ---- */

/* The kernel writes back what is in the cache and fences in the caller's context: with it, the caller's own non-temporal
 * stores to the synced range drain. Those of other threads may still sit in their cores' buffers. */
static void step_sync(struct model *m, const struct trace_event *ev, uint64_t addr, uint64_t len_bytes)
{
	const struct thread *t = thread_of(m, ev);
	struct line_walk walk;
	struct line *l;

	line_walk_init(&walk, m, addr, len_bytes);
	while ((l = line_walk_next(&walk)))
		line_persist(m, l, ev->seq, t);
	line_walk_release(&walk);
}

/* Whole pages, as POSIX says. */
static void step_msync(struct model *m, const struct trace_event *ev)
{
	uint64_t start = ev->addr & ~(uint64_t)(PMT_PAGE_BYTES - 1);
	uint64_t end = (ev->addr + ev->arg[0] + PMT_PAGE_BYTES - 1) & ~(uint64_t)(PMT_PAGE_BYTES - 1);

	if (ev->arg[1] & MS_SYNC)
		step_sync(m, ev, start, end - start);
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
	switch (ev->kind) {
	case PMT_STORE:
	case PMT_STORE_NT:
	case PMT_STORE_SYS:
	case PMT_STORE_PAIR:
	case PMT_STORE_VECTOR:
	case PMT_STORE_ORDERED:
		step_store(m, thread_of(m, ev), ev);
		return;
	case PMT_STORE_RMW:
		/* Its second fence has nothing left to complete. */
		step_fence(m, thread_of(m, ev));
		step_store(m, thread_of(m, ev), ev);
		return;
	case PMT_CLFLUSH:
		step_flush_now(m, ev);
		return;
	case PMT_CLFLUSHOPT:
	case PMT_CLWB:
	case PMT_DC_CVAC:
	case PMT_DC_CIVAC:
	case PMT_DC_CVAP:
	case PMT_DC_CVADP:
		step_flush_later(m, thread_of(m, ev), ev);
		return;
	case PMT_DMB:
	case PMT_DSB:
	case PMT_SFENCE:
	case PMT_MFENCE:
	case PMT_RMW_FENCE:
		step_fence(m, thread_of(m, ev));
		return;
	case PMT_MSYNC:
		step_msync(m, ev);
		return;
	case PMT_FSYNC:
	case PMT_FDATASYNC:
		step_fsync(m, ev);
		return;
	/* An unmapped file is still the same memory, also for others who map it. A hole or a new size is not a store: it changes
	 * which bytes exist, not which of them are durable. Notes and annotations are not instructions. */
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
	case PMT_META:
	case PMT_PROCESS:
	case PMT_FORK:
	case PMT_EXEC:
	case PMT_EXIT:
	case PMT_SIGNAL:
	case PMT_THREAD_BEGIN:
	case PMT_THREAD_END:
	case PMT_OUTPUT:
	case PMT_INCOMPLETE:
	case PMT_FLUSH_VOLATILE:
	case PMT_TX_ADD_CALL:
	case PMT_UNDEFINED:
	case PMT_ORDER:
	case PMT_NKINDS:
		return;
	}
}
