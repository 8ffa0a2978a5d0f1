/* Joins the elements that one string instruction stores to a line into one event, because the
 * processor makes them visible in any order. The elements wait here until the line or the
 * instruction ends, or until another event is written: an interrupted instruction has stored in
 * order up to that point. */
#include "valgrind/recorder/blocks/strings.h"

#include "valgrind/recorder/out/chunk.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/place/stack.h"

static struct {
	const struct code *code; /* of an element */
	UInt node, thread;
	ULong addr, left;
	UInt len_bytes; /* 0: nothing waits */
	UChar bytes[PMT_LINE_BYTES];
} g_string;

static void string_write(void)
{
	struct code *c;

	g_out.before = NULL;
	if (g_string.len_bytes == 0)
		return;
	c = code_part(g_string.code, g_string.len_bytes);
	code_site(c, g_string.node);
	g_string.len_bytes = 0;
	emit_store_by(c, g_string.thread, g_string.addr, g_string.bytes);
}

static Bool is_adjacent(ULong addr, UInt len)
{
	const Bool is_line = g_string.addr / PMT_LINE_BYTES == addr / PMT_LINE_BYTES;

	return is_line &&
	       (addr == g_string.addr + g_string.len_bytes || addr + len == g_string.addr);
}

static void string_begin(const struct code *c, ULong addr)
{
	string_write();
	g_string.code = c;
	g_string.thread = g_out.thread;
	g_string.node = stack_node();
	g_string.addr = addr;
	if (UNLIKELY(clo_check_stacks))
		stack_check(c->pc);
}

/* Adds a part of an element that lies inside one line. */
static void add_part(const struct code *c, ULong addr, const UChar *data, UInt len)
{
	if (g_string.len_bytes == 0 || !is_adjacent(addr, len))
		string_begin(c, addr);
	if (addr < g_string.addr) { /* the instruction goes downwards */
		VG_(memmove)(g_string.bytes + len, g_string.bytes, g_string.len_bytes);
		VG_(memcpy)(g_string.bytes, data, len);
		g_string.addr = addr;
	} else {
		VG_(memcpy)(g_string.bytes + g_string.len_bytes, data, len);
	}
	g_string.len_bytes += len;
}

void string_add(const struct code *c, ULong addr, const UChar *data, ULong left)
{
	const UInt size = c->size_bytes, room = PMT_LINE_BYTES - addr % PMT_LINE_BYTES,
		   first = size < room ? size : room;

	if (c != g_string.code || g_string.left != left + 1 || g_string.thread != g_out.thread)
		string_write(); /* elements of another instruction */
	if (first < size && g_string.len_bytes > 0 && addr + size == g_string.addr) {
		add_part(c, addr + first, data + first, size - first);
		add_part(c, addr, data, first);
	} else {
		add_part(c, addr, data, first);
		if (first < size)
			add_part(c, addr + first, data + first, size - first);
	}
	g_string.left = left;
	if (left == 0) {
		string_write();
	} else {
		g_out.before = string_write;
		out_attend();
	}
}

Bool string_suspend(Addr pc)
{
	const Bool waits = g_string.len_bytes > 0 && g_string.code->pc == pc &&
			   g_string.thread == g_out.thread;

	if (waits)
		g_out.before = NULL;
	return waits;
}

void string_resume(Bool was_waiting)
{
	if (!was_waiting)
		return;
	g_out.before = string_write;
	out_attend();
}
