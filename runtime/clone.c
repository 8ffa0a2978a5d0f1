/* fork, vfork, clone. Dispatch is not inherited: a child arms it before it goes on. One that continues on the parent's stack (fork) does
 * so here, in the handler; one with a stack of its own (threads, posix_spawn) gets a signal frame there and returns from it, see rt_clone().
 * vfork() becomes a fork that waits: a child on our handler's stack would destroy it. */
#include <errno.h>
#include <linux/sched.h>
#include <string.h>

#include "internal.h"

#define FP_MAGIC 0x46505853u
#define KERNEL_UCONTEXT_BYTES 304u /* glibc's ucontext_t is longer */

/* A copy of the frame below `stack`, with the child's registers; 0: the stack cannot be written. */
static uint64_t child_frame(const ucontext_t *uc, uint64_t stack, uint64_t flags)
{
	const char *fp = (const char *)uc->uc_mcontext.fpregs;
	uint32_t magic, bytes = 512;
	uint64_t fp_at, at;
	ucontext_t child;

	memcpy(&magic, fp + 464, 4);
	if (magic == FP_MAGIC)
		memcpy(&bytes, fp + 468, 4);
	fp_at = (stack - 256 - bytes) & ~63ul;
	at = (fp_at - KERNEL_UCONTEXT_BYTES) & ~63ul;
	memcpy(&child, uc, KERNEL_UCONTEXT_BYTES);
	child.uc_mcontext.gregs[REG_RSP] = (greg_t)stack;
	child.uc_mcontext.gregs[REG_RAX] = 0;
	child.uc_mcontext.fpregs = (void *)fp_at;
	if ((flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM) { /* no alternate stack in a new thread */
		child.uc_stack.ss_sp = NULL;
		child.uc_stack.ss_size = 0;
		child.uc_stack.ss_flags = SS_DISABLE;
	}
	if (!rt_copy_out(fp_at, fp, bytes) || !rt_copy_out(at, &child, KERNEL_UCONTEXT_BYTES))
		return 0;
	return at;
}

static long fork_here(long number, const long a[6])
{
	long r;

	maps_lock(); /* another thread must not hold it in the child's copy for ever */
	r = rt_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	maps_unlock();
	if (r == 0)
		rt_arm_dispatch();
	return r;
}

static __attribute__((noinline)) long clone_there(long number, const long a[6], uint64_t stack, uint64_t flags, ucontext_t *uc)
{
	char saved[SIGNALS_SAVE_BYTES];
	uint64_t frame = child_frame(uc, stack, flags);
	bool is_borrowed = flags & CLONE_VM && flags & CLONE_VFORK; /* the child has our memory until it execs */
	long r;

	if (!frame)
		return -EFAULT;
	if (is_borrowed)
		signals_save(saved);
	r = rt_clone(number, a, (void *)frame);
	if (is_borrowed) {
		signals_restore(saved);
		t_self.uc = uc;
		t_self.is_in_call = true;
	}
	return r;
}

static void check_threads(uint64_t flags)
{
	if (flags & CLONE_VM && !(flags & CLONE_VFORK) && g_is_lazy && g_pkey < 0 && lines_any_undecided())
		rt_unsound("threads without protection keys");
}

static long call_clone3(long a[6], ucontext_t *uc)
{
	struct clone_args c = { 0 };
	size_t n = (size_t)a[1] < sizeof(c) ? (size_t)a[1] : sizeof(c);
	long copy[6] = { (long)&c, (long)n, 0, 0, 0, 0 };

	if (!rt_copy_in(&c, (uint64_t)a[0], n))
		return -EFAULT;
	check_threads(c.flags);
	if (c.stack)
		return clone_there(SYS_clone3, copy, c.stack + c.stack_size, c.flags, uc);
	if (c.flags & CLONE_VM && !(c.flags & CLONE_VFORK))
		rt_unsound("a process that shares memory and stack with another");
	c.flags &= ~(uint64_t)CLONE_VM;
	return fork_here(SYS_clone3, copy);
}

static long call_clone(long a[6], ucontext_t *uc)
{
	uint64_t flags = (uint64_t)a[0];

	check_threads(flags);
	if (a[1])
		return clone_there(SYS_clone, a, (uint64_t)a[1], flags, uc);
	if (flags & CLONE_VM && !(flags & CLONE_VFORK))
		rt_unsound("a process that shares memory and stack with another");
	a[0] &= ~(long)CLONE_VM;
	return fork_here(SYS_clone, a);
}

long clone_call(long number, long a[6], ucontext_t *uc)
{
	long vfork_args[6] = { CLONE_VFORK | SIGCHLD, 0, 0, 0, 0, 0 };

	switch (number) {
	case SYS_fork: return fork_here(SYS_fork, a);
	case SYS_vfork: return fork_here(SYS_clone, vfork_args);
	case SYS_clone3: return call_clone3(a, uc);
	default: return call_clone(a, uc);
	}
}
