/* Contains our signal handlers. A fault may be an access of a closed page, a trap the end of a
 * step, gate_signal a system call. Other signals go to the program's own action. */
#include "calls.h"
#include "patch.h"

/* State of an interrupted handler of ours. A handler of the program's may have left it by longjmp,
 * so enter() always sets it anew. */
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

/* Ends the run if the key is open in the interrupted program: reads may then have passed unseen. */
static void check_key(ucontext_t *uc)
{
	if (g_pkey >= 0 && !t_self.is_stepping && !own_stack_is_on(uc) &&
	    !keys_is_closed_frame(g_pkey, uc))
		rt_unsound(
			"a protection key is open that was closed: the kernel, or the program, changed it");
}

static void on_fault(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;
	struct place outer;

	if (gate_catch(uc))
		return;
	if (t_self.is_unwinding)
		__builtin_longjmp(t_self.unwind_failed, 1);
	if (si->si_code > 0 && own_stack_is_near(uc) && patch_is_runtime(frame_pc(uc)))
		rt_unsound("a fault inside pmend's own runtime");
	check_key(uc);
	if (si->si_code > 0 && frame_fault(uc) == ACCESS_FETCH &&
	    patch_is_closed((uint64_t)si->si_addr))
		rt_unsound("executable memory in which system calls cannot be caught");
	if (si->si_code > 0 && detour_leave(uc))
		return;
	if (sig == SIGBUS && si->si_code == BUS_ADRERR && maps_lacks_room((uint64_t)si->si_addr))
		rt_unsound(NO_ROOM);
	if (si->si_code > 0)
		step_abort(uc);
	outer = enter(uc, false);
	if (sig != SIGSEGV || !step_fault(si, uc))
		actions_deliver(sig, si, uc);
	leave(outer);
}

static void on_trap(int sig, siginfo_t *si, void *context)
{
	struct place outer = enter(context, false);

	check_key(context);
	if (si->si_code <= 0 || !step_trap(context))
		actions_deliver(sig, si, context);
	leave(outer);
}

static void on_call(int sig, siginfo_t *si, void *context)
{
	bool is_dispatch = gate_is_call(si);
	struct gate_return back;
	struct place outer;

	check_key(context);
	if (!is_dispatch && si->si_code > 0)
		step_abort(context);
	outer = enter(context, is_dispatch);
	if (is_dispatch)
		calls_dispatch(si, context, &back);
	else
		actions_deliver(sig, si, context);
	leave(outer);
}

/* Handles caught calls in the server: all calls continue, but none may block this signal. */
static void on_early_call(int sig, siginfo_t *si, void *context)
{
	struct gate_return back;
	long number, a[6];

	if (!gate_is_call(si) || !gate_call(si, context, &number, a))
		actions_die_of(sig, si);
	if (number == SYS_rt_sigprocmask)
		gate_set_result(context, signal_call(number, a, context));
	else
		gate_pass(context, &back); /* this handler runs on the program's stack */
}

/* Replaces the default action of signals that kill: notes the signal in the region, and lets the
 * process die. */
static void on_death(int sig, siginfo_t *si, void *context)
{
	step_abort(context);
	enter(context, false);
	actions_die_of(sig, si);
}

void signals_init(void)
{
	static handler_fn *handlers[32] = {
		[SIGSEGV] = on_fault, [SIGBUS] = on_fault, [SIGTRAP] = on_trap,
		[SIGABRT] = on_death, [SIGFPE] = on_death, [SIGILL] = on_death,
		[SIGSYS] = on_death,
	};

	handlers[gate_signal] = on_call;
	actions_init(handlers);
}

void signals_prepare(void)
{
	if (gate_prepare()) /* nothing makes a system call between these two */
		actions_init_early(gate_signal, on_early_call);
}
