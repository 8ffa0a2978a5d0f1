/* Handles fork, vfork and clone. Children do not inherit the gate: each must arm it before it
 * continues. A child that continues on the parent's stack (fork) arms it here, in the handler. A
 * child with its own stack (thread, posix_spawn) gets a signal frame and returns from it:
 * rt_clone(). If it shares our memory, it also gets a stack for our handlers.
 *
 * vfork() becomes a fork that waits: a child that shares our memory would destroy our handler's
 * stack. */
#include <errno.h>
#include <linux/sched.h>

#include "calls.h"

/* Forks in the handler; the child arms the gate. is_clearing: the call has CLONE_CLEAR_SIGHAND. The
 * kernel must not see this flag: it would remove our handlers, too. */
static long fork_here(long number, const long a[6], bool is_clearing)
{
	long r;

	/* if another thread held these locks, the child's copies of them would never be released */
	maps_begin_call();
	maps_lock();
	r = rt_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	maps_unlock();
	maps_end_call();
	if (r == 0 && !gate_arm())
		rt_unsound(gate_lack);
	if (r == 0 && is_clearing)
		actions_clear();
	return r;
}

static bool take_stack(stack_t *own)
{
	bool is_there;

	maps_begin_call();
	is_there = own_stack_take(own);
	maps_end_call();
	return is_there;
}

static void give_stack(const stack_t *own, long tid)
{
	maps_begin_call();
	own_stack_give(own, tid);
	maps_end_call();
}

static __attribute__((noinline)) long clone_there(long number, const long a[6], uint64_t stack,
						  uint64_t flags, bool is_clearing, ucontext_t *uc)
{
	char saved[ACTIONS_SAVE_BYTES];
	/* the child uses our memory until it execs */
	const bool is_borrowed = flags & CLONE_VM && flags & CLONE_VFORK;
	const bool has_own = flags & CLONE_VM; /* otherwise the child has a copy of our memory */
	stack_t own;
	uint64_t frame;
	long r;

	if (has_own && !take_stack(&own))
		return -EAGAIN;
	frame = has_own ? frame_child(uc, (uint64_t)own.ss_sp + own.ss_size, stack, &own,
				      rt_copy_out)
			: frame_child(uc, stack, stack, NULL, rt_copy_out);
	if (!frame)
		return -EFAULT;
	if (is_borrowed || is_clearing)
		actions_save(saved);
	if (is_clearing)
		actions_forget();
	r = rt_clone(number, a, (void *)frame);
	if (has_own)
		give_stack(&own, is_borrowed ? 0 : r);
	if (is_borrowed || is_clearing)
		actions_restore(saved);
	if (is_borrowed) {
		t_self.uc = uc;
		t_self.is_in_call = true;
	}
	return r;
}

static void check_threads(uint64_t flags)
{
	if (flags & CLONE_VM && !(flags & CLONE_VFORK) && g_is_lazy && g_pkey < 0 &&
	    lines_any_undecided())
		rt_unsound("threads without protection keys");
}

static long call_clone3(long a[6], ucontext_t *uc)
{
	struct clone_args c = { 0 };
	size_t n = (size_t)a[1] < sizeof(c) ? (size_t)a[1] : sizeof(c);
	long copy[6] = { (long)&c, (long)n, 0, 0, 0, 0 };
	bool is_clearing;

	if (!rt_copy_in(&c, (uint64_t)a[0], n))
		return -EFAULT;
	check_threads(c.flags);
	/* the kernel refuses both flags together */
	is_clearing = c.flags & CLONE_CLEAR_SIGHAND && !(c.flags & CLONE_SIGHAND);
	if (is_clearing)
		c.flags &= ~(uint64_t)CLONE_CLEAR_SIGHAND;
	if (c.stack)
		return clone_there(SYS_clone3, copy, c.stack + c.stack_size, c.flags, is_clearing,
				   uc);
	if (c.flags & CLONE_VM && !(c.flags & CLONE_VFORK))
		rt_unsound("a process that shares memory and stack with another");
	c.flags &= ~(uint64_t)CLONE_VM;
	return fork_here(SYS_clone3, copy, is_clearing);
}

static long call_clone(long a[6], ucontext_t *uc)
{
	uint64_t flags = (uint64_t)a[0];

	check_threads(flags);
	/* the stack is shared: this is vfork() where Linux has no call of that name */
	if ((uint64_t)a[1] == frame_sp(uc))
		a[1] = 0;
	if (a[1])
		return clone_there(SYS_clone, a, (uint64_t)a[1], flags, false, uc);
	if (flags & CLONE_VM && !(flags & CLONE_VFORK))
		rt_unsound("a process that shares memory and stack with another");
	a[0] &= ~(long)CLONE_VM;
	return fork_here(SYS_clone, a, false);
}

long clone_call(long number, long a[6], ucontext_t *uc)
{
	long fork_args[6] = { arch_fork_flags(number), 0, 0, 0, 0, 0 };

	if (fork_args[0])
		return fork_here(SYS_clone, fork_args, false);
	switch (number) {
	case SYS_clone3: return call_clone3(a, uc);
	case SYS_clone: return call_clone(a, uc);
	default: return CALL_PASS;
	}
}
