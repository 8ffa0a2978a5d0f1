/* Handles every system call of the program (the gate calls this, arch.h). Most calls continue
 * unchanged. The runtime itself makes calls that name, map, read or write PM files, access PM, or
 * would end our control of the process. */
#include "calls.h"

#include <errno.h>
#include <sys/mman.h>

/* Handles calls that must not be made, and calls whose memory accesses no table can describe. */
static long refuse(long number, const long a[6])
{
	if (gate_is_escape(number, a))
		return -EINVAL;
	switch (number) {
	case SYS_madvise:
		if (a[2] == MADV_REMOVE && maps_touch((uint64_t)a[0], (uint64_t)a[1]))
			rt_unsound("madvise removes parts of a PM file");
		return map_advise(a);
	case SYS_io_uring_setup:
	case SYS_io_submit:
	case SYS_userfaultfd:
	case SYS_remap_file_pages:
	case SYS_process_vm_readv:
	case SYS_process_vm_writev:
	case SYS_ptrace:
		if (g_is_lazy)
			rt_unsound("a system call that accesses memory without pmend seeing it");
		break;
	default: break;
	}
	return CALL_PASS;
}

static long dispatch(long number, long a[6], ucontext_t *uc)
{
	long r = refuse(number, a);

	if (r == CALL_PASS)
		r = map_call(number, a);
	if (r == CALL_PASS)
		r = sandbox_call(number, a);
	if (r == CALL_PASS)
		r = clone_call(number, a, uc);
	if (r == CALL_PASS)
		r = exec_call(number, a);
	if (r == CALL_PASS)
		r = root_call(number, a);
	if (r == CALL_PASS)
		r = dirents_call(number, a);
	if (r == CALL_PASS)
		r = signal_call(number, a, uc);
	if (r == CALL_PASS)
		r = paths_call(number, a);
	if (r == CALL_PASS)
		r = fileio_call(number, a);
	if (r == CALL_PASS && buffers_touch(number, a))
		r = calls_perform(number, a);
	return r;
}

void calls_dispatch(siginfo_t *si, ucontext_t *uc, struct gate_return *back)
{
	long number, r, a[6];

	if (!gate_call(si, uc, &number, a))
		rt_unsound("a 32-bit system call");
	r = dispatch(number, a, uc);
	if (r == CALL_PASS && !gate_pass(uc, own_stack_is_on(uc) ? back : NULL))
		r = calls_wait(number, a); /* the program's stack is full, so we make the call */
	if (r != CALL_PASS)
		gate_set_result(uc, r);
}
