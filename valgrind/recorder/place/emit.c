/* Writes events into the trace in the general way: any kind, several processes, a change of thread,
 * a full chunk. */
#include "valgrind/recorder/place/emit.h"

#include "valgrind/recorder/out/chunk.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/place/stack.h"

#include "pub_tool_machine.h"

static const struct {
	UChar carries, nargs;
} g_kinds[PMT_NKINDS] = {
#define X(number, NAME, name, carries, nargs) [number] = { carries, nargs },
	PMT_KINDS(X)
#undef X
};

void emit_place(struct code *c)
{
	UInt node = stack_node();

	if (c->node != node)
		code_site(c, node);
	if (UNLIKELY(clo_check_stacks)) {
		stack_check(c->pc);
		c->node = NEVER_NODE; /* so that the next event comes here, too */
	}
}

static UChar *put_site(const struct code *c, UInt thread, UInt *head, UChar *p)
{
	p = pmt_put_event(&g_out.enc, head, p, thread, c->site->number, g_out.prev);
	g_out.prev = &c->site->state;
	return p;
}

void emit_store(struct code *c, ULong addr, const UChar *data)
{
	emit_store_by(c, g_out.thread, addr, data);
}

void emit_store_by(struct code *c, UInt thread, ULong addr, const UChar *data)
{
	UChar *start = out_begin_event(), *p;
	UInt head = 0;

	p = put_site(c, thread, &head, start + 1);
	p = pmt_put_addr(&g_out.enc, &head, p, &c->site->state, addr, c->size_bytes);
	p = pmt_put_value(&head, p, &c->site->state, data, c->size_bytes);
	if (c->has_arg)
		*p++ = c->arg;
	*start = (UChar)head;
	out_end(p);
}

void emit_addr(struct code *c, ULong addr)
{
	UChar *start = out_begin_event(), *p;
	UInt head = 0;

	p = put_site(c, g_out.thread, &head, start + 1);
	p = pmt_put_addr(&g_out.enc, &head, p, &c->site->state, addr, c->size_bytes);
	*start = (UChar)head;
	out_end(p);
}

void emit_args(struct code *c, const ULong *args)
{
	UChar *start = out_begin_event(), *p;
	UInt head = 0;

	p = put_site(c, g_out.thread, &head, start + 1);
	for (UInt i = 0; i < g_kinds[c->kind].nargs; i++)
		p = pmt_put_number(p, args[i]);
	*start = (UChar)head;
	out_end(p);
}

void emit_plain(struct code *c)
{
	const ULong args[1] = { c->arg };

	emit_args(c, args);
}

struct emit_at emit_here(ThreadId tid)
{
	if (tid == VG_INVALID_THREADID || stack_thread_number(tid) == 0)
		return (struct emit_at){ 0, 0, 1 };
	stack_run(tid);
	/* the thread's instruction pointer is already behind the instruction */
	return (struct emit_at){ VG_(get_IP)(tid) - 1, stack_node(), g_out.thread };
}

void emit_event(ThreadId tid, enum pmt_kind kind, ULong addr, const ULong *args, const void *blob,
		UInt blob_len)
{
	const struct emit_at at = emit_here(tid);

	emit_event_at(&at, kind, addr, args, blob, blob_len);
}

void emit_event_at(const struct emit_at *at, enum pmt_kind kind, ULong addr, const ULong *args,
		   const void *blob, UInt blob_len)
{
	struct code *c = code_get(at->pc, kind, 0);
	UChar *start, *p;
	UInt head = 0;

	code_site(c, at->node);
	start = out_begin_event();
	p = put_site(c, at->thread, &head, start + 1);
	if (g_kinds[kind].carries & PMT_HAS_ADDR)
		p = pmt_put_addr(&g_out.enc, &head, p, &c->site->state, addr, 0);
	for (UInt i = 0; i < g_kinds[kind].nargs; i++)
		p = pmt_put_number(p, args[i]);
	if (g_kinds[kind].carries & PMT_HAS_BLOB)
		p = pmt_put_blob(p, blob, blob_len > PMT_PAGE_BYTES ? PMT_PAGE_BYTES : blob_len);
	*start = (UChar)head;
	out_end(p);
}
