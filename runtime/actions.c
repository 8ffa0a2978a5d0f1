/* Keeps the signal actions of the program. SIGSEGV, SIGBUS, SIGTRAP and the gate's signal (SIGSYS
 * or SIGILL) always have our handlers. The program's actions for them are stored here, and our
 * handlers call them if the signal is not ours. The program may believe that it blocks these
 * signals, but it never does. For other signals that end a crashing program (SIGABRT, SIGFPE,
 * SIGILL), our handler replaces the default action: it notes the signal in the region before the
 * process dies. */
#include <string.h>
#include <sys/resource.h>

#include "internal.h"

#define SA_HAS_RESTORER 0x04000000ul

static handler_fn *const *g_handlers; /* our handlers, by signal number */
static handler_fn *g_early;           /* the handler that was installed before those */
/* the program's actions, for the signals of OURS and those that on_other() handles */
static struct action g_actions[65];
static uint64_t g_asked_masks[65]; /* the sa_mask that the program gave, by signal number */

static bool rt_write(uint64_t to, const void *from, size_t n)
{
	return gate_copy((void *)to, from, n) == 0;
}

static bool is_function(const struct action *a)
{
	return (void *)a->handler != (void *)SIG_DFL && (void *)a->handler != (void *)SIG_IGN;
}

uint64_t *frame_mask(ucontext_t *uc)
{
	return (uint64_t *)&uc->uc_sigmask;
}

void actions_set_mask(uint64_t mask)
{
	mask &= ~OURS;
	CALL4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, 0, 8);
}

/* ---- dying ---- */

static void note_death(int sig, const siginfo_t *si)
{
	uint32_t none = 0;

	if (!g_region || !__atomic_compare_exchange_n(&g_region->signal, &none, (uint32_t)sig,
						      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	g_region->signal_addr = si->si_code > 0 ? (uint64_t)si->si_addr : 0;
	g_region->signal_nframes = rt_stack(g_region->signal_stack);
}

void actions_die_of(int sig, const siginfo_t *si)
{
	struct action dfl = { .handler = (void *)SIG_DFL };
	struct rlimit64 {
		uint64_t now, max;
	} no_core = { 0, 0 };

	note_death(sig, si);
	CALL4(SYS_prlimit64, 0, RLIMIT_CORE, &no_core, 0);
	CALL4(SYS_rt_sigaction, sig, &dfl, 0, 8);
	CALL3(SYS_tgkill, CALL0(SYS_getpid), CALL0(SYS_gettid), sig);
	dfl.mask = ~BIT(sig);
	CALL4(SYS_rt_sigprocmask, SIG_SETMASK, &dfl.mask, 0, 8);
	for (;;)
		CALL1(SYS_exit_group, 128 + sig);
}

/* Prepares the frame so that the program's handler is called when our own handler returns. It runs
 * on the program's alternate stack if it asked for that, else on the current one. */
static void deliver_there(int sig, const siginfo_t *si, ucontext_t *uc, const struct action *a,
			  uint64_t mask)
{
	const stack_t alt = t_self.alt_asked;
	const bool is_on = frame_sp(uc) - (uint64_t)alt.ss_sp < alt.ss_size,
		   is_alt = a->flags & SA_ONSTACK && alt.ss_size && !is_on;
	const struct frame_handler h = { .function = (uint64_t)a->handler,
					 .restorer = (uint64_t)a->restorer,
					 .mask = mask & ~OURS,
					 .mask_after = *frame_mask(uc) | t_self.blocked,
					 .stack = is_alt ? (uint64_t)alt.ss_sp + alt.ss_size
							 : frame_sp(uc) - arch_red_bytes,
					 .end = is_alt || is_on ? (uint64_t)alt.ss_sp : 0 };

	if (is_alt && alt.ss_flags & ALTSTACK_DISARMS) {
		t_self.alt_disarmed = alt;
		t_self.alt_asked = (stack_t){ 0 };
	}
	if (!frame_deliver(uc, sig, si, &h, rt_write))
		actions_die_of(SIGSEGV, si); /* the kernel does the same */
	t_self.blocked |= mask & OURS;
}

/* Delivers a signal to the program's own handler. If the return of that handler cannot be seen, or
 * if the signal interrupted one of our handlers, whose frame must stay, the handler is called from
 * here. */
void actions_deliver(int sig, siginfo_t *si, ucontext_t *uc)
{
	struct action a = g_actions[sig];
	bool is_fault = si->si_code > 0;
	uint64_t mask = *frame_mask(uc) | a.mask;
	const uint64_t blocked = t_self.blocked;

	if (!is_function(&a) && (void *)a.handler == (void *)SIG_IGN && !is_fault)
		return;
	if (!is_function(&a) || (is_fault && t_self.blocked & BIT(sig)))
		actions_die_of(sig, si);
	if (a.flags & SA_RESETHAND)
		g_actions[sig].handler = (void *)SIG_DFL;
	if (!(a.flags & SA_NODEFER))
		mask |= BIT(sig);
	if (gate_sees_return && !own_stack_is_on(uc)) {
		deliver_there(sig, si, uc, &a, mask);
		return;
	}
	actions_set_mask(mask);
	t_self.blocked |= mask & OURS;
	a.handler(sig, si, uc);
	t_self.blocked = blocked;
	actions_set_mask(~0ul);
	*frame_mask(uc) &= ~OURS;
}

/* ---- the program's handlers of other signals ---- */

/* Calls the program's handler of another signal. Where its return cannot be seen
 * (gate_sees_return), its mask must not block our signals afterwards. Otherwise only handlers that
 * want the alternate stack come here: the kernel knows our stack, not the program's. */
static void on_other(int sig, siginfo_t *si, void *uc)
{
	struct action a = g_actions[sig];

	if (is_function(&a) && gate_sees_return)
		actions_deliver(sig, si, uc);
	else if (is_function(&a))
		a.handler(sig, si, uc);
	*frame_mask(uc) &= ~OURS;
}

static long exchange_other(int sig, const struct action *new, struct action *old)
{
	struct action real = new ? *new : (struct action){ 0 };
	const bool is_wrapped =
		new &&is_function(new) && (!gate_sees_return || new->flags &SA_ONSTACK);
	long r;

	real.mask &= ~OURS;
	if (is_wrapped) {
		real.handler = on_other;
		real.flags |= SA_SIGINFO;
	}
	/* on_other() ends soon: no other signal may interrupt it */
	if (is_wrapped && gate_sees_return) {
		real.flags |= SA_HAS_RESTORER;
		real.restorer = rt_restore;
		real.mask = ~(OURS | NOTED);
	}
	r = CALL4(SYS_rt_sigaction, sig, new ? &real : NULL, old, 8);
	if (IS_ERROR(r))
		return r;
	if (old->handler == on_other)
		*old = g_actions[sig];
	if (is_wrapped)
		g_actions[sig] = *new;
	return 0;
}

/* ---- installing ---- */

static void install(int sig)
{
	struct action a = { .handler = g_handlers[sig],
			    .flags = SA_SIGINFO | SA_NODEFER | SA_HAS_RESTORER | SA_ONSTACK,
			    .restorer = rt_restore,
			    .mask = ~(OURS | NOTED) };

	if (sig == SIGABRT)
		a.mask |= BIT(SIGABRT);
	CALL4(SYS_rt_sigaction, sig, &a, 0, 8);
}

/* Unblocks our signals. t_self.blocked keeps which of these the program believes to block. */
static void unblock(void)
{
	uint64_t mask = 0;

	CALL4(SYS_rt_sigprocmask, SIG_BLOCK, 0, &mask, 8);
	t_self.blocked |= mask & OURS;
	actions_set_mask(mask);
}

void actions_init_early(int sig, handler_fn *handler)
{
	const struct action a = { .handler = handler,
				  .flags = SA_SIGINFO | SA_NODEFER | SA_HAS_RESTORER,
				  .restorer = rt_restore,
				  .mask = ~0ul };

	CALL4(SYS_rt_sigaction, sig, &a, &g_actions[sig], 8);
	g_early = handler;
	unblock();
}

void actions_init(handler_fn *const handlers[32])
{
	g_handlers = handlers;
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
		if (!g_early || old.handler != g_early)
			g_actions[sig] = old;
		install(sig);
	}
	unblock();
}

long actions_exchange(int sig, const struct action *new, struct action *old)
{
	long r;

	if (OURS & BIT(sig)) {
		*old = g_actions[sig];
		if (new) {
			g_actions[sig] = *new;
			install(sig);
		}
	} else {
		r = exchange_other(sig, new, old);
		if (IS_ERROR(r))
			return r;
		if (NOTED & BIT(sig) && old->handler == g_handlers[sig])
			*old = (struct action){ .handler = (void *)SIG_DFL };
		else
			old->mask |= g_asked_masks[sig] & OURS;
		if (new &&NOTED & BIT(sig) && (void *)new->handler == (void *)SIG_DFL)
			install(sig);
	}
	if (new)
		g_asked_masks[sig] = new->mask;
	return 0;
}

void actions_save(void *to)
{
	_Static_assert(ACTIONS_SAVE_BYTES == sizeof(g_actions) + 8, "room for what is saved");
	memcpy(to, g_actions, sizeof(g_actions));
	memcpy((char *)to + sizeof(g_actions), &t_self.blocked, 8);
}

void actions_restore(const void *from)
{
	memcpy(g_actions, from, sizeof(g_actions));
	memcpy(&t_self.blocked, (const char *)from + sizeof(g_actions), 8);
}

void actions_forget(void)
{
	for (int sig = 1; sig < 65; sig++)
		if (is_function(&g_actions[sig]))
			g_actions[sig].handler = (void *)SIG_DFL;
}

void actions_clear(void)
{
	const struct action dfl = { .handler = (void *)SIG_DFL };
	struct action old;

	for (int sig = 1; sig < 65; sig++)
		if (sig != SIGKILL && sig != SIGSTOP &&
		    !IS_ERROR(actions_exchange(sig, NULL, &old)) && is_function(&old))
			actions_exchange(sig, &dfl, &old);
}
