/* Signals. SIGSEGV, SIGBUS, SIGTRAP and SIGSYS are ours: the program's actions for them are kept here and called from our handlers when
 * the signal is not ours; it may believe to block them, but never does. For the other signals that a crash ends in (SIGABRT, SIGFPE,
 * SIGILL) our handler stands in for the default action. Whatever kills the process by default is first noted in the region. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "internal.h"

struct action { /* as the kernel has it */
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	const void *restorer;
	uint64_t mask;
};

#define BIT(sig) (1ul << ((sig) - 1))
#define OURS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGTRAP) | BIT(SIGSYS))
#define NOTED (BIT(SIGABRT) | BIT(SIGFPE) | BIT(SIGILL))
#define SA_HAS_RESTORER 0x04000000ul

static struct action g_actions[65]; /* of OURS: what the program asked for */
static uint64_t g_asked_masks[65];  /* sa_mask as the program gave it */

__thread struct rt_thread t_self;

static bool is_function(const struct action *a)
{
	return (void *)a->handler != (void *)SIG_DFL && (void *)a->handler != (void *)SIG_IGN;
}

static uint64_t *frame_mask(ucontext_t *uc)
{
	return (uint64_t *)&uc->uc_sigmask;
}

void signals_set_mask(uint64_t mask)
{
	mask &= ~OURS;
	CALL4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, 0, 8);
}

/* ---- dying ---- */

static void note_death(int sig, const siginfo_t *si)
{
	uint32_t none = 0;

	if (!g_region || !__atomic_compare_exchange_n(&g_region->signal, &none, (uint32_t)sig, false, __ATOMIC_RELAXED,
						      __ATOMIC_RELAXED))
		return;
	g_region->signal_addr = si->si_code > 0 ? (uint64_t)si->si_addr : 0;
	g_region->signal_nframes = rt_stack(g_region->signal_stack);
}

static _Noreturn void die_of(int sig, const siginfo_t *si)
{
	struct action dfl = { .handler = (void *)SIG_DFL };
	struct rlimit64 { uint64_t now, max; } no_core = { 0, 0 };

	note_death(sig, si);
	CALL4(SYS_prlimit64, 0, RLIMIT_CORE, &no_core, 0);
	CALL4(SYS_rt_sigaction, sig, &dfl, 0, 8);
	CALL3(SYS_tgkill, CALL0(SYS_getpid), CALL0(SYS_gettid), sig);
	dfl.mask = ~BIT(sig);
	CALL4(SYS_rt_sigprocmask, SIG_SETMASK, &dfl.mask, 0, 8);
	for (;;)
		CALL1(SYS_exit_group, 128 + sig);
}

/* A signal that is the program's own. */
static void deliver(int sig, siginfo_t *si, ucontext_t *uc)
{
	struct action a = g_actions[sig];
	bool is_fault = si->si_code > 0;
	uint64_t mask = *frame_mask(uc) | a.mask;

	if (!is_function(&a) && (void *)a.handler == (void *)SIG_IGN && !is_fault)
		return;
	if (!is_function(&a) || (is_fault && t_self.blocked & BIT(sig)))
		die_of(sig, si);
	if (a.flags & SA_RESETHAND)
		g_actions[sig].handler = (void *)SIG_DFL;
	if (!(a.flags & SA_NODEFER))
		mask |= BIT(sig);
	signals_set_mask(mask);
	a.handler(sig, si, uc);
	signals_set_mask(~0ul);
	*frame_mask(uc) &= ~OURS;
}

/* ---- our handlers ---- */

/* What an interrupted handler of ours was about; a handler of the program's may have left by longjmp, so it is set anew each time. */
struct place {
	const ucontext_t *uc;
	bool is_in_call;
};

static struct place enter(const ucontext_t *uc, bool is_in_call)
{
	struct place outer = { t_self.uc, t_self.is_in_call };

	t_self.uc = uc;
	t_self.is_in_call = is_in_call;
	return outer;
}

static void leave(struct place outer)
{
	t_self.uc = outer.uc;
	t_self.is_in_call = outer.is_in_call;
}

static void on_fault(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;
	uint64_t rip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	struct place outer;

	if (rip - (uint64_t)rt_string_begin < (uint64_t)(rt_string_end - rt_string_begin)) {
		uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uint64_t)rt_string_end;
		return;
	}
	if (rip - (uint64_t)rt_access_begin < (uint64_t)(rt_access_end - rt_access_begin)) {
		uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uint64_t)rt_access_failed;
		return;
	}
	if (t_self.is_unwinding)
		__builtin_longjmp(t_self.unwind_failed, 1);
	if (si->si_code > 0 && detour_leave(uc))
		return;
	if (si->si_code > 0)
		step_abort(uc);
	outer = enter(uc, false);
	if (sig != SIGSEGV || !step_fault(si, uc))
		deliver(sig, si, uc);
	leave(outer);
}

static void on_trap(int sig, siginfo_t *si, void *context)
{
	struct place outer = enter(context, false);

	if (si->si_code <= 0 || !step_trap(context))
		deliver(sig, si, context);
	leave(outer);
}

static void on_call(int sig, siginfo_t *si, void *context)
{
	bool is_dispatch = si->si_code == 2; /* SYS_USER_DISPATCH */
	struct gate_return back; /* lies above the program's stack pointer until it has done the call itself */
	struct place outer = enter(context, is_dispatch);

	if (is_dispatch)
		calls_dispatch(si, context, &back);
	else
		deliver(sig, si, context);
	leave(outer);
}

/* Stands in for the default action. */
static void on_death(int sig, siginfo_t *si, void *context)
{
	step_abort(context);
	enter(context, false);
	die_of(sig, si);
}

static void install(int sig)
{
	static void (*const handlers[])(int, siginfo_t *, void *) = {
		[SIGSEGV] = on_fault, [SIGBUS] = on_fault,  [SIGTRAP] = on_trap, [SIGSYS] = on_call,
		[SIGABRT] = on_death, [SIGFPE] = on_death, [SIGILL] = on_death,
	};
	struct action a = { .handler = handlers[sig],
			    .flags = SA_SIGINFO | SA_NODEFER | SA_HAS_RESTORER,
			    .restorer = rt_restore,
			    .mask = ~(OURS | NOTED) };

	/* a program that runs out of stack wants its handler elsewhere */
	if (sig == SIGSEGV || sig == SIGBUS)
		a.flags |= g_actions[sig].flags & SA_ONSTACK;
	if (sig == SIGABRT)
		a.mask |= BIT(SIGABRT);
	CALL4(SYS_rt_sigaction, sig, &a, 0, 8);
}

void signals_init(void)
{
	uint64_t mask = 0;

	for (int sig = 1; sig < 32; sig++) {
		struct action old = { 0 };

		if (!((OURS | NOTED) & BIT(sig)))
			continue;
		CALL4(SYS_rt_sigaction, sig, 0, &old, 8);
		if (NOTED & BIT(sig)) {
			if ((void *)old.handler == (void *)SIG_DFL)
				install(sig);
			continue;
		}
		g_actions[sig] = old;
		install(sig);
	}
	CALL4(SYS_rt_sigprocmask, SIG_BLOCK, 0, &mask, 8);
	t_self.blocked = mask & OURS;
	signals_set_mask(mask);
}

void signals_save(void *to)
{
	_Static_assert(SIGNALS_SAVE_BYTES == sizeof(g_actions) + 8, "room for what is saved");
	memcpy(to, g_actions, sizeof(g_actions));
	memcpy((char *)to + sizeof(g_actions), &t_self.blocked, 8);
}

void signals_restore(const void *from)
{
	memcpy(g_actions, from, sizeof(g_actions));
	memcpy(&t_self.blocked, (const char *)from + sizeof(g_actions), 8);
}

/* ---- the program's calls ---- */

static long call_sigaction(const long a[6])
{
	int sig = (int)a[0];
	struct action new = { 0 }, old = { 0 }, real;
	uint64_t asked;
	long r = 0;

	if (sig < 1 || sig > 64 || a[3] != 8)
		return CALL_PASS;
	if (a[1] && !rt_copy_in(&new, (uint64_t)a[1], sizeof(new)))
		return -EFAULT;
	asked = g_asked_masks[sig];
	if (OURS & BIT(sig)) {
		old = g_actions[sig];
		if (a[1]) {
			g_actions[sig] = new;
			install(sig);
		}
	} else {
		real = new;
		real.mask &= ~OURS;
		r = CALL4(SYS_rt_sigaction, sig, a[1] ? &real : NULL, &old, 8);
		if (!IS_ERROR(r) && old.handler == on_death)
			old = (struct action){ .handler = (void *)SIG_DFL };
		else
			old.mask |= asked & OURS;
		if (!IS_ERROR(r) && a[1] && NOTED & BIT(sig) && (void *)new.handler == (void *)SIG_DFL)
			install(sig);
	}
	if (IS_ERROR(r))
		return r;
	if (a[1])
		g_asked_masks[sig] = new.mask;
	return a[2] && !rt_copy_out((uint64_t)a[2], &old, sizeof(old)) ? -EFAULT : 0;
}

/* The mask that matters is the one which our handler's return restores. */
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

/* Calls that wait with another mask, which is argument i: they get a copy without our signals. */
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
	struct { uint64_t mask, size; } six;
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

/* Returning from a handler of the program's own. */
static _Noreturn void call_sigreturn(ucontext_t *uc)
{
	ucontext_t *frame = (ucontext_t *)uc->uc_mcontext.gregs[REG_RSP];

	*frame_mask(frame) &= ~OURS;
	t_self.uc = NULL;
	t_self.is_in_call = false;
	rt_return_to(frame);
}

long signals_call(long number, long a[6], ucontext_t *uc)
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
