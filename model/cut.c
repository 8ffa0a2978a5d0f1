/* Notes for each thread when it last had a chance to make its stores durable: at a fence (on
 * platforms with flushes), a synchronous msync or fsync, or an acknowledgement. A locked
 * instruction or a dmb counts only if a flush waits for it, because programs use them for other
 * things. Fences inside libc do not count. */
#include "model/cut.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/owner.h"
#include "util/alloc.h"

struct cut_thread {
	uint64_t chance;
	/* seq of the thread's end, after which other threads may do the rest; 0 if it has not
	 * ended */
	uint64_t end_seq;
	uint64_t store_seq; /* seq of its last store; 0 if it stored nothing */
	bool is_pending;    /* it has flushed something that waits for a fence */
	bool is_cut;        /* still running when another thread ended the process */
};

static struct cut_process *process_of(struct cut *c, uint32_t stream)
{
	while (c->processes.n <= stream)
		*vec_add(&c->processes) = (struct cut_process){ 0 };
	return &c->processes.at[stream];
}

static uint64_t key_of(uint32_t stream, uint32_t thread)
{
	return (uint64_t)stream << 32 | thread;
}

static struct cut_thread *thread_look_up(struct cut *c, uint64_t key)
{
	struct cut_thread *t = map_get(&c->threads, key);

	if (!t) {
		t = xcalloc(1, sizeof *t);
		map_set(&c->threads, key, t);
		*vec_add(&c->list) = t;
	}
	c->recent = t;
	c->recent_key = key;
	return t;
}

static inline struct cut_thread *thread_of(struct cut *c, const struct trace_event *ev)
{
	const uint64_t key = key_of(ev->stream, ev->thread);

	return c->recent && c->recent_key == key ? c->recent : thread_look_up(c, key);
}

static void note_chance(struct cut *c, const struct trace_event *ev)
{
	struct cut_thread *t = thread_of(c, ev);

	t->chance = process_of(c, ev->stream)->chance = ev->seq;
	t->is_pending = false;
}

static void note_fence(struct cut *c, const struct trace_event *ev)
{
	if (c->platform->has_flush && owner_of_site(ev->site) != OWNER_RUNTIME)
		note_chance(c, ev);
}

static void note_end(struct cut *c, const struct trace_event *ev)
{
	process_of(c, ev->stream)->is_over = true;
}

static bool is_meta(const struct trace_event *ev, const char *key)
{
	return ev->data_len >= strlen(key) && memcmp(ev->data, key, strlen(key)) == 0;
}

void cut_step(struct cut *c, const struct trace_event *ev)
{
	if (ev->stream < c->processes.n) /* after an exec that failed, the process continues */
		c->processes.at[ev->stream].is_over = false;
	if (trace_is_store(ev->kind)) {
		thread_of(c, ev)->store_seq = ev->seq;
		if (ev->kind != PMT_STORE_NT && ev->kind != PMT_STORE_RMW)
			return;
	}
	switch (ev->kind) {
	case PMT_STORE_NT:
	case PMT_CLFLUSHOPT:
	case PMT_CLWB:
	case PMT_DC_CVAC:
	case PMT_DC_CIVAC:
	case PMT_DC_CVAP:
	case PMT_DC_CVADP: thread_of(c, ev)->is_pending = true; break;
	case PMT_SFENCE:
	case PMT_MFENCE:
	case PMT_DSB: note_fence(c, ev); break;
	case PMT_DMB:
	case PMT_RMW_FENCE:
	case PMT_STORE_RMW:
		if (thread_of(c, ev)->is_pending)
			note_fence(c, ev);
		break;
	case PMT_MSYNC:
		if (ev->arg[1] & MS_SYNC)
			note_chance(c, ev);
		break;
	case PMT_FSYNC:
	case PMT_FDATASYNC:
	case PMT_OUTPUT: note_chance(c, ev); break;
	case PMT_THREAD_END: thread_of(c, ev)->end_seq = ev->seq; break;
	case PMT_PROCESS: process_of(c, ev->stream)->is_recorded = true; break;
	case PMT_EXEC:
	case PMT_EXIT: note_end(c, ev); break;
	case PMT_META:
		c->is_imported |= is_meta(ev, "imported=");
		if (is_meta(ev, "cut="))
			thread_of(c, ev)->is_cut = true;
		break;
	default: break; /* neither a chance nor an end */
	}
}

void cut_release(struct cut *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		free(c->list.at[i]);
	vec_release(&c->list);
	vec_release(&c->processes);
	map_release(&c->threads);
}

bool cut_is_process(const struct cut *c, uint32_t stream)
{
	return stream < c->processes.n && c->processes.at[stream].is_recorded &&
	       !c->processes.at[stream].is_over && !c->is_imported;
}

enum cut_extent cut_extent(const struct cut *c)
{
	for (size_t i = 0; i < c->processes.n; i++)
		if (cut_is_process(c, (uint32_t)i))
			return CUT_PROCESS;
	for (size_t i = 0; i < c->list.n; i++)
		if (c->list.at[i]->is_cut && c->list.at[i]->store_seq)
			return CUT_THREAD;
	return CUT_NONE;
}

bool cut_is(const struct cut *c, uint32_t stream, uint32_t thread, uint64_t seq)
{
	const struct cut_thread *t = map_get(&c->threads, key_of(stream, thread));

	if (!cut_is_process(c, stream))
		return t && t->is_cut && seq > t->chance;
	if (t && t->end_seq && c->processes.at[stream].chance > t->end_seq)
		return false;
	return !t || seq > t->chance;
}
