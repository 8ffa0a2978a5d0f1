/* Every system call of the program arrives here (syscall user dispatch). Most go on by themselves; those that name PM files, map
 * them, read or write them, touch PM, or would lose our grip on the process are done for it. */
#include <asm/prctl.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "internal.h"

#define AUDIT_ARCH_X86_64 0xc000003eu

bool rt_copy_in(void *to, uint64_t from, size_t n)
{
	struct gate_string s = { (uint64_t)to, from, n, 0, 0 };
	bool is_pm = maps_touch(from, n);

	if (is_pm) {
		maps_read(from, n);
		maps_open(from, n);
	}
	rt_string(&s, 1, 0);
	if (is_pm)
		maps_close(from, n);
	return s.rcx == 0;
}

bool rt_copy_out(uint64_t to, const void *from, size_t n)
{
	struct gate_string s = { to, (uint64_t)from, n, 0, 0 };
	bool is_pm = maps_touch(to, n);

	if (is_pm) {
		maps_read_private(to, n);
		maps_open(to, n);
	}
	rt_string(&s, 1, 0);
	if (is_pm) {
		maps_written(to, n - s.rcx);
		maps_close(to, n);
	}
	return s.rcx == 0;
}

bool rt_copy_string(char *to, uint64_t from, size_t room)
{
	size_t n = 0;

	while (n < room) {
		size_t piece = maps_touch(from + n, 1) ? 1 : 64 - (from + n) % 64;

		if (piece > room - n)
			piece = room - n;
		if (!rt_copy_in(to + n, from + n, piece))
			return false;
		if (memchr(to + n, 0, piece))
			return true;
		n += piece;
	}
	return false;
}

long calls_perform(long number, long a[6])
{
	long r;

	if (!buffers_touch(number, a))
		return rt_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	buffers_before(number, a);
	/* it may wait, and signals must be able to end that */
	signals_set_mask(*(const uint64_t *)&t_self.uc->uc_sigmask);
	r = rt_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	signals_set_mask(~0ul);
	buffers_after(number, a, r);
	return r;
}

/* Calls by which recovery could escape. */
static long call_prctl(const long a[6])
{
	return a[0] == PR_SET_SYSCALL_USER_DISPATCH ? -EINVAL : CALL_PASS;
}

static long dispatch(long number, long a[6], ucontext_t *uc)
{
	long r;

	switch (number) {
	case SYS_mmap: return call_mmap(a);
	case SYS_munmap: return call_munmap(a);
	case SYS_mremap: return call_mremap(a);
	case SYS_mprotect: case SYS_pkey_mprotect: return call_mprotect(number, a);
	case SYS_clone: case SYS_clone3: case SYS_fork: case SYS_vfork: return clone_call(number, a, uc);
	case SYS_execve: case SYS_execveat: return exec_call(number, a);
	case SYS_prctl: return call_prctl(a);
	case SYS_getdents64: return dirents_call(number, a);
	case SYS_madvise:
		if (a[2] == MADV_REMOVE && maps_touch((uint64_t)a[0], (uint64_t)a[1]))
			rt_unsound("madvise removes parts of a PM file");
		return CALL_PASS;
	case SYS_io_uring_setup: case SYS_io_submit: case SYS_userfaultfd: case SYS_remap_file_pages: case SYS_process_vm_readv:
	case SYS_process_vm_writev: case SYS_ptrace:
		if (g_is_lazy)
			rt_unsound("a system call that accesses memory behind our back");
		return CALL_PASS;
	default: break;
	}
	r = signals_call(number, a, uc);
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
	greg_t *g = uc->uc_mcontext.gregs;
	long a[6] = { g[REG_RDI], g[REG_RSI], g[REG_RDX], g[REG_R10], g[REG_R8], g[REG_R9] };
	long r;

	if (si->si_arch != AUDIT_ARCH_X86_64)
		rt_unsound("a 32-bit system call");
	r = dispatch(si->si_syscall, a, uc);
	if (r != CALL_PASS) {
		g[REG_RAX] = r;
		return;
	}
	back->rip = (uint64_t)g[REG_RIP];
	back->rsp = (uint64_t)g[REG_RSP];
	g[REG_RIP] = (greg_t)(uint64_t)rt_pass;
	g[REG_RSP] = (greg_t)(uint64_t)back;
}
