/* Answers questions about the present: which stores are not guaranteed to be durable, and what a
 * flush or fence would achieve. Nothing here changes the model. */
#include "model/internal.h"

#include <sys/mman.h>

/* Gives the live bytes of s in [addr, addr + len_bytes), as bits of the store. */
static uint64_t live_in(const struct line *l, const struct store *s, uint64_t addr,
			uint64_t len_bytes)
{
	uint64_t start = l->addr + s->at, end = start + s->size_bytes;
	uint64_t to = len_bytes > UINT64_MAX - addr ? UINT64_MAX : addr + len_bytes;

	if (start < addr)
		start = addr;
	if (end > to)
		end = to;
	return start < end ? store_live(s) & store_bits(s, (uint32_t)(start - l->addr),
							(uint32_t)(end - l->addr))
			   : 0;
}

/* ---- stores ---- */

static bool is_overwritten(const struct line *l, const struct store *s)
{
	uint64_t left = store_live(s);

	for (const struct store *newer = s + 1; newer < line_end(l) && left; newer++)
		left &= ~store_covered(s, newer);
	return left == 0;
}

static void fill_flush(struct model_store *out, const struct model *m, const struct line *l,
		       const struct store *s)
{
	if (is_late(m) || (m->platform->is_cache_durable && !store_is_unordered(s))) {
		out->state = MODEL_LATE;
		return;
	}
	if (store_is_unordered(s)) {
		out->state = MODEL_PENDING;
		out->flush_stream = m->thread_list.at[s->thread]->stream;
		out->flush_thread = m->thread_list.at[s->thread]->number;
		return;
	}
	for (const struct pending *p = l->pendings; p; p = p->in_line) {
		if (p->upto < s->seq || p->upto < out->flush_seq)
			continue;
		out->state = MODEL_PENDING;
		out->flush = p->flush;
		out->flush_seq = p->upto;
		out->flush_stream = p->thread->stream;
		out->flush_thread = p->thread->number;
	}
}

static struct model_store store_tell(const struct model *m, const struct line *l,
				     const struct store *s)
{
	const struct thread *t = m->thread_list.at[s->thread];
	struct model_store out = {
		.seq = s->seq,
		.site = s->site,
		.addr = l->addr + s->at,
		.size_bytes = s->size_bytes,
		.stream = t->stream,
		.thread = t->number,
		.kind = s->kind,
		.state = MODEL_DIRTY,
	};

	fill_flush(&out, m, l, s);
	return out;
}

void model_each(const struct model *m, uint64_t addr, uint64_t len_bytes,
		void (*f)(const struct model_store *s, void *arg), void *arg)
{
	struct line_walk walk;
	const struct line *l;

	line_walk_init(&walk, m, addr, len_bytes);
	while ((l = line_walk_next(&walk)))
		for (const struct store *s = l->stores; s < line_end(l); s++) {
			struct model_store out;

			if (!live_in(l, s, addr, len_bytes))
				continue;
			out = store_tell(m, l, s);
			out.is_overwritten = is_overwritten(l, s);
			f(&out, arg);
		}
	line_walk_release(&walk);
}

bool model_first_dirty(const struct model *m, uint64_t addr, uint64_t len_bytes,
		       struct model_store *out)
{
	struct line_walk walk;
	const struct line *l;
	bool is_found = false;

	line_walk_init(&walk, m, addr, len_bytes);
	while (!is_found && (l = line_walk_next(&walk)))
		for (const struct store *s = l->stores; s < line_end(l) && !is_found; s++) {
			if (!live_in(l, s, addr, len_bytes))
				continue;
			*out = store_tell(m, l, s);
			is_found = out->state == MODEL_DIRTY;
		}
	line_walk_release(&walk);
	return is_found;
}

size_t model_nlines(const struct model *m)
{
	return m->nlines;
}

bool model_is_durable(const struct model *m, uint64_t addr, uint64_t len_bytes)
{
	struct line_walk walk;
	const struct line *l;
	bool is_durable = true;

	line_walk_init(&walk, m, addr, len_bytes);
	while (is_durable && (l = line_walk_next(&walk)))
		for (const struct store *s = l->stores; s < line_end(l) && is_durable; s++)
			is_durable = !live_in(l, s, addr, len_bytes);
	line_walk_release(&walk);
	return is_durable;
}

bool model_has_older(const struct model *m, uint64_t addr, uint64_t len_bytes, uint64_t seq)
{
	struct line_walk walk;
	const struct line *l;
	bool has_older = false;

	line_walk_init(&walk, m, addr, len_bytes);
	while (!has_older && (l = line_walk_next(&walk)))
		for (const struct store *s = l->stores; s < line_end(l) && !has_older; s++)
			has_older = s->seq < seq && store_live(s) != 0;
	line_walk_release(&walk);
	return has_older;
}

bool model_is_exact(const struct model *m)
{
	return m->is_exact;
}

/* ---- flushes and fences ---- */

/* Has the thread non-temporal stores in the line? clflush makes them durable, which no other flush
 * does. */
static bool has_own_unordered(const struct line *l, const struct thread *t)
{
	for (const struct store *s = l->stores; t && s < line_end(l); s++)
		if (store_is_unordered(s) && s->thread == t->index)
			return true;
	return false;
}

static enum model_use line_flush_use(const struct line *l, const struct thread *t)
{
	const struct pending *p;
	uint64_t newest_seq = 0;

	for (const struct store *s = l->stores; s < line_end(l); s++)
		if (!store_is_unordered(s))
			newest_seq = s->seq;
	if (!newest_seq)
		return MODEL_NOTHING;
	p = t ? line_pending(l, t) : NULL;
	return p && p->upto >= newest_seq ? MODEL_REDUNDANT : MODEL_USEFUL;
}

enum model_use model_flush_use(const struct model *m, const struct trace_event *flush)
{
	const struct thread *t = thread_find(m, flush->stream, flush->thread);
	uint64_t len_bytes, start = platform_flushed(flush, &len_bytes);
	const bool is_now = platform_flush(m->platform, flush->kind) == FLUSH_NOW;
	enum model_use use = MODEL_NOTHING;

	for (uint64_t addr = start; m->platform->has_flush && addr - start < len_bytes;
	     addr += PMT_LINE_BYTES) {
		const struct line *l = line_find(m, addr);
		enum model_use one = l ? line_flush_use(l, t) : MODEL_NOTHING;

		if (l && is_now && has_own_unordered(l, t))
			one = MODEL_USEFUL;
		use = one < use ? one : use; /* it is as useful as its most useful line */
	}
	return use;
}

/* ---- order ---- */

uint64_t model_follows(const struct model *m, const struct trace_event *ev)
{
	const struct thread *t = thread_find(m, ev->stream, ev->thread);
	bool is_acquire = ev->kind == PMT_STORE_ORDERED && (ev->arg[0] & PMT_ORDER_ACQUIRE);

	if (!is_partial_order(m) || is_release(ev))
		return ev->seq;
	if (!t)
		return 0;
	return is_acquire && t->released > t->after ? t->released_seq : t->after_seq;
}

/* ---- crashes ---- */

static bool completes_some(const struct model *m, const struct trace_event *ev)
{
	const struct thread *t = thread_find(m, ev->stream, ev->thread);

	return t && t->pendings && model_completes(m, ev);
}

bool model_reduces(const struct model *m, const struct trace_event *ev)
{
	if (m->open.seq)
		return true;
	if (trace_is_store(ev->kind))
		return m->platform->is_cache_durable || completes_some(m, ev);
	if (platform_flush(m->platform, ev->kind) == FLUSH_NOW)
		return line_find(m, ev->addr);
	if (ev->kind == PMT_MSYNC && ev->arg[2] != MODEL_AS_RECORDED)
		return line_find(m, ev->addr);
	if (ev->kind == PMT_MSYNC)
		return (ev->arg[1] & MS_SYNC) && m->nlines > 0;
	if (ev->kind == PMT_FSYNC || ev->kind == PMT_FDATASYNC)
		return m->nlines > 0;
	return ev->kind == PMT_OLD || completes_some(m, ev);
}
