/* Makes a system call for the program. Bytes that it reads in PM are decided before the call, and
 * bytes that it writes are marked after the call. */
#include "calls.h"

/* Makes the call with the program's signal mask: the call may wait, and signals must be able to
 * interrupt it. */
long calls_wait(long number, const long a[6])
{
	long r;

	actions_set_mask(*(const uint64_t *)&t_self.uc->uc_sigmask);
	r = rt_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	actions_set_mask(~0ul);
	return r;
}

long calls_perform(long number, long a[6])
{
	long r;

	if (!buffers_touch(number, a))
		return rt_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	buffers_before(number, a);
	r = calls_wait(number, a);
	buffers_after(number, a, r);
	return r;
}
