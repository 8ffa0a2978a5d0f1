/* --check-stacks: what Valgrind unwinds must be the call stack that we kept, as far as both go. Differences are counted, and the first ones shown. */
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/stack.h"

#include "pub_tool_stacktrace.h"

#define SHOWN_MAX 10
#define FRAMES_SHOWN 20

static void show(Addr pc, UInt frame, Addr kept, Addr unwound)
{
	VG_(umsg)("pmend: call stacks disagree at event pc %#lx, frame %u: kept %#lx, unwound %#lx\n", pc, frame, kept, unwound);
	VG_(get_and_pp_StackTrace)(g_tid, FRAMES_SHOWN);
	for (const struct frame *f = g_top; f > stack_bottom() && f > g_top - FRAMES_SHOWN; f--)
		VG_(umsg)("   kept %#lx slot %#lx\n", f->ret, f->slot);
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

		if (is_signal && ips[i] != want && ips[i] != want - 1 && ++i == n)
			return; /* Valgrind shows the trampoline, too, and may not get behind it */
		if (ips[i] != want && ips[i] != want - 1) {
			if (ips[i] == ips[i - 1])
				return; /* it goes in circles: Valgrind is lost, as behind the resolver of arm64's dynamic linker */
			if (shared_bad_stack() <= SHOWN_MAX)
				show(pc, i, want, ips[i]);
			return;
		}
		i++;
	}
}
