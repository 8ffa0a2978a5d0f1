/* Keeps the program from installing a seccomp filter that would refuse or kill what the runtime
 * does in the same process; the region says so. A filter that the runtime can live with is
 * installed. */
#include "calls.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "serve/sandbox.h"

#define FILTER_MAX 4096 /* instructions: BPF_MAXINSNS */

/* What the runtime does of its own while a program runs. */
static const int ours[] = { SYS_gettid,       SYS_getpid,      SYS_rt_sigprocmask, SYS_rt_sigaction,
			    SYS_rt_sigreturn, SYS_mprotect,    SYS_pkey_mprotect,  SYS_mmap,
			    SYS_munmap,       SYS_sched_yield, SYS_tkill,          SYS_tgkill,
			    SYS_kill,         SYS_prlimit64,   SYS_fstat,          SYS_newfstatat,
			    SYS_exit_group };

static struct sock_filter g_filter[FILTER_MAX]; /* a copy: the program's memory may not be there */

/* One that cannot be read, or is too long, is for the kernel to refuse. */
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
