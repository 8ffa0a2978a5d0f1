/* Chooses how system calls are caught, and catches them: by syscall user dispatch if the kernel has
 * it and allows it, otherwise by replacing the call instructions, so that they end in SIGILL.
 * Nothing else differs between the two ways. Calls that the program makes itself use rt_pass. In
 * the environment, PMEND_RUN_NO_DISPATCH asks for the second way, PMEND_RUN_NO_DISPATCH=all for
 * neither. */
#include <sys/prctl.h>

#include "gate.h"
#include "internal.h"
#include "patch.h"

#define AUDIT_ARCH_X86_64 0xc000003eu
#define USER_DISPATCH 2 /* si_code: SYS_USER_DISPATCH */

static bool g_is_blind; /* for tests: neither way is used */
int gate_signal = SIGSYS;
bool gate_sees_return = true;
const char gate_lack[] =
	"some system calls of the program cannot be caught: the kernel has no syscall user dispatch, or refuses it";

#define ARCH_SHSTK_STATUS 0x5005 /* an operation of arch_prctl() in Linux 6.6 and later */
#define SHSTK 1u

/* Says why system calls cannot be caught; NULL: they can. A shadow stack (CET) makes it impossible:
 * we build frames ourselves, and children return from them, which a shadow stack does not know. */
const char *catch_refusal(void)
{
	uint64_t features = 0;

	if (CALL2(SYS_arch_prctl, ARCH_SHSTK_STATUS, &features) == 0 && features & SHSTK)
		return "shadow stacks (CET) are on; turn them off by GLIBC_TUNABLES=glibc.cpu.hwcaps=-SHSTK";
	return NULL;
}

void catch_choose(void)
{
	const char *asked = environment_get("PMEND_RUN_NO_DISPATCH");

	g_is_blind = asked && asked[0] == 'a';
	rt_dispatches = !asked && CALL5(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH,
					PR_SYS_DISPATCH_OFF, 0, 0, 0) == 0;
	gate_signal = rt_dispatches ? SIGSYS : SIGILL;
	gate_sees_return = rt_dispatches;
}

/* Prepares only the second way. Dispatch is a property of a thread, and children do not inherit it,
 * so nothing can be prepared for them. */
bool gate_prepare(void)
{
	return !rt_dispatches && patch_prepare(&calls_table);
}

bool gate_arm(void)
{
	if (g_is_blind)
		return false;
	if (!rt_dispatches)
		return patch_arm(&calls_table);
	return CALL5(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, rt_gate_begin,
		     rt_gate_end - rt_gate_begin, 0) == 0;
}

/* Watches new code only in the second way: dispatch catches calls wherever they are made. */
bool gate_watch(uint64_t start, uint64_t end)
{
	return rt_dispatches || patch_range(&calls_table, start, end);
}

bool gate_is_call(const siginfo_t *si)
{
	const uint8_t *at = si->si_addr;

	if (rt_dispatches)
		return si->si_code == USER_DISPATCH;
	return si->si_code > 0 && at[0] == CALL_BYTE &&
	       (at[1] == SYSCALL_SECOND || at[1] == SYSENTER_SECOND || at[1] == INT80_SECOND);
}

bool gate_call(const siginfo_t *si, ucontext_t *uc, long *number, long a[6])
{
	greg_t *g = uc->uc_mcontext.gregs;
	const int registers[6] = { REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9 };
	const uint8_t *at = si->si_addr;

	*number = rt_dispatches ? si->si_syscall : (int)g[REG_RAX];
	for (int i = 0; i < 6; i++)
		a[i] = g[registers[i]];
	if (rt_dispatches)
		return si->si_arch == AUDIT_ARCH_X86_64;
	g[REG_RIP] = (greg_t)(uint64_t)(at + arch_call_bytes);
	return at[1] == SYSCALL_SECOND;
}

bool gate_is_escape(long number, const long a[6])
{
	return number == SYS_prctl && a[0] == PR_SET_SYSCALL_USER_DISPATCH;
}
