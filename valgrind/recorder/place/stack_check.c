/* Checks, with --check-stacks, the call stack that we kept: compares it with what Valgrind unwinds,
 * as far as both reach. Differences are counted, and the first ones are printed. */
#include "valgrind/common/arch.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/stack.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_stacktrace.h"

#define SHOWN_MAX 10
#define FRAMES_SHOWN 20

static void show(Addr pc, UInt frame, Addr kept, Addr unwound)
{
	VG_(umsg)
	("pmend: call stacks disagree at event pc %#lx, frame %u: kept %#lx, unwound %#lx\n", pc,
	 frame, kept, unwound);
	VG_(get_and_pp_StackTrace)(g_tid, FRAMES_SHOWN);
	for (const struct frame *f = g_top; f > stack_bottom() && f > g_top - FRAMES_SHOWN; f--)
		VG_(umsg)("   kept %#lx slot %#lx\n", f->ret, f->slot);
}

static Bool is_frame(Addr ip, Addr want)
{
	return ip == want || ip == want - 1;
}

/* Asks, if frame i is not the expected one, whether it is the frame before it again, which called
 * the dynamic linker. */
static Bool is_behind_resolver(const Addr *ips, UInt i)
{
	const HChar *name;

	return i >= 2 && ips[i] == ips[i - 1] &&
	       VG_(get_objname)(VG_(current_DiEpoch)(), ips[i - 2], &name) &&
	       VG_(strstr)(name, "/ld-linux") != NULL;
}

void stack_check(Addr pc)
{
	enum { MAX = 64 };
	const struct frame *bottom = stack_bottom();
	Addr ips[MAX];
	UInt n = VG_(get_StackTrace)(g_tid, ips, MAX, NULL, NULL, 0), i = 1;

	for (const struct frame *f = g_top; f > bottom && i < n; f--) {
		Bool is_signal = f->is_signal == IS_SIGNAL;
		Addr want = is_signal ? f->ret : f->ret - 1;

		Bool is_last = is_signal && i + 1 == n; /* this frame may be the trampoline */

		if (is_signal && !is_last && !is_frame(ips[i], want))
			i++; /* Valgrind shows the trampoline, too */
		if (!is_frame(ips[i], want)) {
			if (arch_unwinder_gets_lost && (is_last || is_behind_resolver(ips, i)))
				return;
			if (shared_bad_stack() <= SHOWN_MAX)
				show(pc, i, want, ips[i]);
			return;
		}
		i++;
	}
}
