/* Decides which seccomp filters of the program are installed. A filter that would refuse or kill
 * system calls of the runtime, which is in the same process, is not installed; the region says so.
 * Other filters are installed. */
#include "calls.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "serve/sandbox.h"

#define FILTER_MAX 4096 /* most instructions: BPF_MAXINSNS */

/* The system calls that the runtime makes while a program runs. */
static const int ours[] = { SYS_gettid,       SYS_getpid,      SYS_rt_sigprocmask, SYS_rt_sigaction,
			    SYS_rt_sigreturn, SYS_mprotect,    SYS_pkey_mprotect,  SYS_mmap,
			    SYS_munmap,       SYS_sched_yield, SYS_tkill,          SYS_tgkill,
			    SYS_kill,         SYS_prlimit64,   SYS_fstat,          SYS_newfstatat,
			    SYS_exit_group };

static struct sock_filter g_filter[FILTER_MAX]; /* a copy of the filter */

/* Asks whether the runtime can work under this filter. Also true if the filter cannot be read or is
 * too long: the kernel refuses such a filter. */
static bool is_fine(uint64_t at)
{
	struct sock_fprog p;

	if (!rt_copy_in(&p, at, sizeof p) || p.len > FILTER_MAX ||
	    !rt_copy_in(g_filter, (uint64_t)p.filter, p.len * sizeof *g_filter))
		return true;
	return sandbox_allows(g_filter, p.len, ours, sizeof ours / sizeof *ours);
}

long sandbox_call(long number, const long a[6])
{
	bool is_strict;

	if (number == SYS_prctl && a[0] == PR_SET_SECCOMP)
		is_strict = a[1] == SECCOMP_MODE_STRICT;
	else if (number == SYS_seccomp &&
		 (a[0] == SECCOMP_SET_MODE_STRICT ||
		  (a[0] == SECCOMP_SET_MODE_FILTER && !(a[1] & SECCOMP_FILTER_FLAG_NEW_LISTENER))))
		is_strict = a[0] == SECCOMP_SET_MODE_STRICT;
	else
		return CALL_PASS;
	if (!is_strict && is_fine((uint64_t)a[2]))
		return CALL_PASS;
	g_region->has_sandbox = 1;
	return 0;
}
