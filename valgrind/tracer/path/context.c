/* Tells the path file which objects contain the code, and what the call stack is. Calls are noted
 * when they happen; a frame has ended when the stack pointer is above it. */
#include "valgrind/tracer/path/path_internal.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_machine.h"

/* ---- objects ---- */

void path_object(Addr pc)
{
	static Addr g_from = 1, g_to; /* the object of the last call */
	static const DebugInfo *g_known[512];
	static UInt g_nknown;
	const DebugInfo *di;
	const HChar *name;

	if (pc >= g_from && pc < g_to)
		return;
	di = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), pc);
	if (!di)
		return;
	g_from = VG_(DebugInfo_get_text_avma)(di);
	g_to = g_from + VG_(DebugInfo_get_text_size)(di);
	for (UInt i = 0; i < g_nknown; i++)
		if (g_known[i] == di)
			return;
	if (g_nknown < sizeof g_known / sizeof *g_known)
		g_known[g_nknown++] = di;
	name = VG_(DebugInfo_get_filename)(di);
	path_record((struct pmp_record){ .kind = PMP_OBJECT,
					 .x = g_from,
					 .y = VG_(DebugInfo_get_text_bias)(di),
					 .k = g_to - g_from },
		    name, VG_(strlen)(name));
}

/* ---- the call stack ---- */

#define CALLS 4096

static struct call {
	Addr ret, sp;
} g_calls[CALLS];
static UInt g_ncalls, g_ncalls_written;
static ULong g_calls_hash;

/* Notes a call; sp is the stack pointer after it. Drops the frames below sp, because nothing tells
 * when a function returns. */
VG_REGPARM(2) void path_call(Addr ret, Addr sp)
{
	while (g_ncalls && g_calls[g_ncalls - 1].sp <= sp)
		g_ncalls--;
	if (g_ncalls == CALLS)
		g_ncalls = 0;
	g_calls[g_ncalls++] = (struct call){ ret, sp };
}

void path_stack(void)
{
	static Addr g_rets[64];
	Addr sp = VG_(get_SP)(VG_(get_running_tid)());
	ULong hash = 0;
	UInt n = 0;

	while (g_ncalls && g_calls[g_ncalls - 1].sp < sp)
		g_ncalls--;
	for (UInt i = g_ncalls; i-- > 0 && n < sizeof g_rets / sizeof *g_rets;) {
		g_rets[n++] = g_calls[i].ret;
		hash = hash * 31 + g_calls[i].ret;
	}
	if (hash == g_calls_hash && n == g_ncalls_written)
		return;
	g_calls_hash = hash;
	g_ncalls_written = n;
	for (UInt i = 0; i < n; i++)
		path_object(g_rets[i]);
	path_record((struct pmp_record){ .kind = PMP_STACK }, g_rets, n * sizeof *g_rets);
}
