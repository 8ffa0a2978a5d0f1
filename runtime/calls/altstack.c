/* Alternate signal stacks: the kernel has ours (own_stack.c), and the program sees what it asked
 * for, where its handlers run that want to (actions.c). */
#include <errno.h>

#include "calls.h"

#define LEAST_BYTES 2048u

static bool is_on(const ucontext_t *uc)
{
	return frame_sp(uc) - (uint64_t)t_self.alt_asked.ss_sp < t_self.alt_asked.ss_size;
}

static long set(const stack_t *asked, const ucontext_t *uc)
{
	const int mode = asked->ss_flags & ~ALTSTACK_DISARMS;

	if (is_on(uc))
		return -EPERM;
	if (mode != 0 && mode != SS_DISABLE && mode != SS_ONSTACK)
		return -EINVAL;
	if (mode != SS_DISABLE && asked->ss_size < LEAST_BYTES)
		return -ENOMEM;
	t_self.alt_asked = mode == SS_DISABLE ? (stack_t){ 0 } : *asked;
	return 0;
}

long altstack_call(const long a[6], const ucontext_t *uc)
{
	stack_t asked, old = t_self.alt_asked;
	long r = 0;

	old.ss_flags = !old.ss_size ? SS_DISABLE
		       : is_on(uc)  ? SS_ONSTACK
				    : old.ss_flags & ALTSTACK_DISARMS;
	if (a[0] && !rt_copy_in(&asked, (uint64_t)a[0], sizeof(asked)))
		return -EFAULT;
	if (a[0])
		r = set(&asked, uc);
	if (r == 0 && a[1] && !rt_copy_out((uint64_t)a[1], &old, sizeof(old)))
		return -EFAULT;
	return r;
}
