/* Prevents a program from installing a seccomp filter that would refuse or kill the recorder, which
 * makes system calls in the same process. Another call, which does nothing, takes its place, and
 * the trace says so. A filter that allows what the recorder does is installed. */
#include "valgrind/recorder/blocks/sandbox.h"

#include "serve/sandbox.h"
#include "valgrind/common/ir.h"
#include "valgrind/common/sys.h"
#include "valgrind/recorder/place/emit.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_threadstate.h"

#define PR_SET_SECCOMP 22
#define MODE_STRICT 1     /* of prctl() */
#define SET_MODE_STRICT 0 /* of seccomp() */
#define SET_MODE_FILTER 1
#define ACTION 0xffff0000
#define ACTION_TRAP 0x00030000
#define FLAG_NEW_LISTENER 8 /* gives a descriptor */

/* The calls that Valgrind and the recorder make while a program runs. */
static const int ours[] = { __NR_read,
			    __NR_write,
			    __NR_pread64,
			    __NR_pwrite64,
			    __NR_openat,
			    __NR_close,
			    __NR_fstat,
			    __NR_lseek,
			    __NR_fcntl,
			    __NR_ftruncate,
			    __NR_mmap,
			    __NR_munmap,
			    __NR_mprotect,
			    __NR_rt_sigprocmask,
			    __NR_rt_sigaction,
			    __NR_rt_sigreturn,
			    __NR_rt_sigtimedwait,
			    __NR_futex,
			    __NR_gettid,
			    __NR_getpid,
			    __NR_tgkill,
			    __NR_exit,
			    __NR_exit_group };

struct program { /* struct sock_fprog */
	UShort n;
	const struct sock_filter *at;
};

static Bool is_readable(Addr at, SizeT len)
{
	return VG_(am_is_valid_for_client)(at, len, VKI_PROT_READ);
}

/* Asks whether the filter sends SIGSYS. Valgrind gives up on that signal. */
static Bool has_trap(const struct sock_filter *at, UInt n)
{
	for (UInt i = 0; i < n; i++)
		if (at[i].code == (BPF_RET | BPF_K) && (at[i].k & ACTION) == ACTION_TRAP)
			return True;
	return False;
}

/* Asks whether the filter allows the recorder's calls. A filter that the kernel will refuse is
 * fine, too. */
static Bool is_fine(Addr at)
{
	const struct program *p = (const struct program *)at;

	if (!is_readable(at, sizeof *p) || !is_readable((Addr)p->at, p->n * sizeof *p->at))
		return True;
	return !has_trap(p->at, p->n) &&
	       sandbox_allows(p->at, p->n, ours, sizeof ours / sizeof *ours);
}

/* Gives the number of the call to make: that of the program's call, or of the call that takes its
 * place. */
static VG_REGPARM(0) ULong sandbox_number(ULong number, ULong a, ULong b, ULong c)
{
	static const HChar text[] = "sandbox=left out";
	Bool is_strict;

	if (number == __NR_prctl && a == PR_SET_SECCOMP)
		is_strict = b == MODE_STRICT;
	else if (number == __NR_seccomp &&
		 (a == SET_MODE_STRICT || (a == SET_MODE_FILTER && !(b & FLAG_NEW_LISTENER))))
		is_strict = a == SET_MODE_STRICT;
	else
		return number;
	if (!is_strict && is_fine(c))
		return number;
	emit_event(VG_(get_running_tid)(), PMT_META, 0, NULL, text, sizeof text - 1);
	return __NR_sched_yield;
}

void sandbox_add(IRSB *sb)
{
	const IRTemp number = newIRTemp(sb->tyenv, Ity_I64);
	IRExpr **args = mkIRExprVec_4(
		ir_register(sb, arch_number_offset), ir_register(sb, arch_argument_offset(0)),
		ir_register(sb, arch_argument_offset(1)), ir_register(sb, arch_argument_offset(2)));

	addStmtToIRSB(sb, IRStmt_Dirty(unsafeIRDirty_1_N(number, 0, "sandbox_number",
							 sandbox_number, args)));
	addStmtToIRSB(sb, IRStmt_Put(arch_number_offset, IRExpr_RdTmp(number)));
}
