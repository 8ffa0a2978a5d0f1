/* Notes by thread when it last had a chance to make its stores durable: a fence (where flushes count), a synchronous msync or fsync, an acknowledgement. A locked
 * instruction or a dmb is one only if a flush waits for it: programs use those for other things. Fences inside libc are not the program's. */
#include "model/cut.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/runtime_code.h"
#include "util/alloc.h"

struct cut_thread {
	uint64_t chance;
	uint64_t end_seq; /* of a thread that ended: others may do the rest for it; 0: it has not */
	bool is_pending;  /* something waits for a fence */
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

static struct cut_thread *thread_of(struct cut *c, const struct trace_event *ev)
{
	struct cut_thread *t = map_get(&c->threads, key_of(ev->stream, ev->thread));

	if (!t) {
		t = xcalloc(1, sizeof *t);
		map_set(&c->threads, key_of(ev->stream, ev->thread), t);
		*vec_add(&c->list) = t;
	}
	return t;
}

static void note_chance(struct cut *c, const struct trace_event *ev)
{
	struct cut_thread *t = thread_of(c, ev);

	t->chance = process_of(c, ev->stream)->chance = ev->seq;
	t->is_pending = false;
}

static void note_fence(struct cut *c, const struct trace_event *ev)
{
	if (c->platform->has_flush && !trace_site_is_runtime(ev->site))
		note_chance(c, ev);
}

static void note_end(struct cut *c, const struct trace_event *ev)
{
	process_of(c, ev->stream)->is_over = true;
}

static bool is_imported(const struct trace_event *ev)
{
	static const char key[] = "imported=";

	return ev->data_len >= sizeof key - 1 && memcmp(ev->data, key, sizeof key - 1) == 0;
}

void cut_step(struct cut *c, const struct trace_event *ev)
{
	if (ev->stream < c->processes.n) /* an exec that failed was no end */
		c->processes.at[ev->stream].is_over = false;
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
	case PMT_META: c->is_imported |= is_imported(ev); break;
	default: break; /* no chance to make anything durable, and no end */
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
	return stream < c->processes.n && c->processes.at[stream].is_recorded && !c->processes.at[stream].is_over && !c->is_imported;
}

bool cut_has(const struct cut *c)
{
	for (size_t i = 0; i < c->processes.n; i++)
		if (cut_is_process(c, (uint32_t)i))
			return true;
	return false;
}

bool cut_is(const struct cut *c, uint32_t stream, uint32_t thread, uint64_t seq)
{
	const struct cut_thread *t = map_get(&c->threads, key_of(stream, thread));

	if (!cut_is_process(c, stream))
		return false;
	if (t && t->end_seq && c->processes.at[stream].chance > t->end_seq)
		return false;
	return !t || seq > t->chance;
}
