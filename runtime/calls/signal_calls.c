/* Makes the program's system calls about signals. The program sees the actions and masks that it
 * set, but the kernel gets masks without our signals. A call that waits with a mask of its own gets
 * a copy of that mask. */
#include "calls.h"

#include <errno.h>

#define ALTSTACK_LEAST_BYTES 2048u

static long call_sigaction(const long a[6])
{
	struct action new = { 0 }, old = { 0 };
	int sig = (int)a[0];
	long r;

	if (sig < 1 || sig > 64 || a[3] != 8)
		return CALL_PASS;
	if (a[1] && !rt_copy_in(&new, (uint64_t)a[1], sizeof(new)))
		return -EFAULT;
	r = actions_exchange(sig, a[1] ? &new : NULL, &old);
	if (IS_ERROR(r))
		return r;
	return a[2] && !rt_copy_out((uint64_t)a[2], &old, sizeof(old)) ? -EFAULT : 0;
}

/* Makes rt_sigprocmask: changes the mask in the frame, which our handler's return restores. */
static long call_sigprocmask(const long a[6], ucontext_t *uc)
{
	uint64_t set = 0, now = *frame_mask(uc) | t_self.blocked, next = now;

	if (a[3] != 8)
		return -EINVAL;
	if (a[1]) {
		if (!rt_copy_in(&set, (uint64_t)a[1], 8))
			return -EFAULT;
		switch (a[0]) {
		case SIG_BLOCK: next = now | set; break;
		case SIG_UNBLOCK: next = now & ~set; break;
		case SIG_SETMASK: next = set; break;
		default: return -EINVAL;
		}
	}
	if (a[2] && !rt_copy_out((uint64_t)a[2], &now, 8))
		return -EFAULT;
	*frame_mask(uc) = next & ~OURS;
	t_self.blocked = next & OURS;
	return 0;
}

/* Makes a call that waits with another mask, which is argument i. The call gets a copy of the mask
 * without our signals. */
static long call_with_mask(long number, long a[6], int i)
{
	uint64_t mask;

	if (!a[i])
		return CALL_PASS;
	if (!rt_copy_in(&mask, (uint64_t)a[i], 8))
		return -EFAULT;
	if (!(mask & OURS) && !buffers_touch(number, a))
		return CALL_PASS;
	mask &= ~OURS;
	a[i] = (long)&mask;
	return calls_perform(number, a);
}

static long call_pselect(long a[6])
{
	struct {
		uint64_t mask, size;
	} six;
	uint64_t mask;

	if (!a[5])
		return CALL_PASS;
	if (!rt_copy_in(&six, (uint64_t)a[5], sizeof(six)))
		return -EFAULT;
	if (!six.mask)
		return CALL_PASS;
	if (!rt_copy_in(&mask, six.mask, 8))
		return -EFAULT;
	if (!(mask & OURS))
		return CALL_PASS;
	mask &= ~OURS;
	six.mask = (uint64_t)&mask;
	a[5] = (long)&six;
	return calls_perform(SYS_pselect6, a);
}

/* Makes rt_sigreturn at the end of one of the program's own handlers. */
static _Noreturn void call_sigreturn(ucontext_t *uc)
{
	ucontext_t *frame = frame_of_sigreturn(uc);

	if (frame_is_delivered(frame))
		t_self.blocked = *frame_mask(frame) & OURS;
	*frame_mask(frame) &= ~OURS;
	if (t_self.alt_disarmed.ss_size)
		t_self.alt_asked = t_self.alt_disarmed;
	t_self.alt_disarmed = (stack_t){ 0 };
	t_self.uc = NULL;
	t_self.is_in_call = false;
	rt_return_to(frame);
}

/* ---- sigaltstack ---- */

/* Asks whether the program is on its alternate stack, as it sees it. The kernel's alternate stack
 * is ours (own_stack.c). The program sees the stack that it asked for, and its handlers run on that
 * one (actions.c). */
static bool is_on_altstack(const ucontext_t *uc)
{
	return frame_sp(uc) - (uint64_t)t_self.alt_asked.ss_sp < t_self.alt_asked.ss_size;
}

static long altstack_set(const stack_t *asked, const ucontext_t *uc)
{
	const int mode = asked->ss_flags & ~ALTSTACK_DISARMS;

	if (is_on_altstack(uc))
		return -EPERM;
	if (mode != 0 && mode != SS_DISABLE && mode != SS_ONSTACK)
		return -EINVAL;
	if (mode != SS_DISABLE && asked->ss_size < ALTSTACK_LEAST_BYTES)
		return -ENOMEM;
	t_self.alt_asked = mode == SS_DISABLE ? (stack_t){ 0 } : *asked;
	return 0;
}

static long call_sigaltstack(const long a[6], const ucontext_t *uc)
{
	stack_t asked, old = t_self.alt_asked;
	long r = 0;

	old.ss_flags = !old.ss_size         ? SS_DISABLE
		       : is_on_altstack(uc) ? SS_ONSTACK
					    : old.ss_flags & ALTSTACK_DISARMS;
	if (a[0] && !rt_copy_in(&asked, (uint64_t)a[0], sizeof(asked)))
		return -EFAULT;
	if (a[0])
		r = altstack_set(&asked, uc);
	if (r == 0 && a[1] && !rt_copy_out((uint64_t)a[1], &old, sizeof(old)))
		return -EFAULT;
	return r;
}

long signal_call(long number, long a[6], ucontext_t *uc)
{
	switch (number) {
	case SYS_rt_sigaction: return call_sigaction(a);
	case SYS_rt_sigprocmask: return call_sigprocmask(a, uc);
	case SYS_sigaltstack: return call_sigaltstack(a, uc);
	case SYS_rt_sigsuspend: return call_with_mask(number, a, 0);
	case SYS_ppoll: return call_with_mask(number, a, 3);
	case SYS_epoll_pwait: return call_with_mask(number, a, 4);
	case SYS_epoll_pwait2: return call_with_mask(number, a, 4);
	case SYS_pselect6: return call_pselect(a);
	case SYS_rt_sigreturn: call_sigreturn(uc);
	default: return CALL_PASS;
	}
}
