/* Finds call stacks of the interrupted program. Unwinding by call frame information is slow, so the
 * last results are kept, also for later runs of the same server (warm.c). A result is used again if
 * the same instruction is reached with the same stack pointer, and with the same return addresses
 * at the same places. Unwinding begins in our own handler and passes the signal frame (rt_restore
 * in arch.h). If the program's stack is broken, unwinding faults and ends there. */
#include <unwind.h>

#include "internal.h"

struct walk {
	uint64_t *stack;
	uint64_t *slots; /* where each return address is; NULL: not wanted */
	uint64_t sp;     /* stack pointer of the previous frame */
	uint64_t pc;     /* the interrupted instruction; frames before it are ours */
	uint32_t n;
	uint32_t nours;
};

static _Unwind_Reason_Code walk_frame(struct _Unwind_Context *context, void *arg)
{
	struct walk *w = arg;
	uint64_t ip = _Unwind_GetIP(context);

	if (w->n == 0 && ip != w->pc)
		return ++w->nours < 64 ? _URC_NO_REASON : _URC_END_OF_STACK;
	if (ip == 0)
		return _URC_END_OF_STACK;
	if (w->slots && w->n > 0) /* the first address is no return address */
		w->slots[w->n] = frame_return_slot(t_self.uc, w->sp, _Unwind_GetCFA(context), ip);
	/* the first frame is the interrupted function's */
	w->sp = w->n == 0 ? frame_sp(t_self.uc) : _Unwind_GetCFA(context);
	w->stack[w->n++] = ip;
	return w->n < RUN_STACK ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static __attribute__((noinline)) void walk_frames(struct walk *w)
{
	if (__builtin_setjmp(t_self.unwind_failed)) {
		t_self.is_unwinding = false;
		return;
	}
	t_self.is_unwinding = true;
	_Unwind_Backtrace(walk_frame, w);
	t_self.is_unwinding = false;
}

static void walk_stack(struct walk *w)
{
	ucontext_t *uc = (ucontext_t *)t_self.uc;
	uint64_t is = frame_pc(uc);

	frame_set_pc(uc, w->pc); /* the place in the program, if pc is in a detour */
	walk_frames(w);
	frame_set_pc(uc, is);
}

uint32_t rt_stack(uint64_t *stack)
{
	struct walk w = { .stack = stack, .pc = 0 };

	if (!t_self.uc)
		return 0;
	w.pc = detour_original(frame_pc(t_self.uc));
	walk_stack(&w);
	if (w.n == 0)
		stack[w.n++] = w.pc;
	if (t_self.is_in_call)
		stack[0] -= arch_call_bytes; /* the call instruction itself */
	return w.n;
}

static bool is_same(const struct warm_stack *k, uint64_t pc, uint64_t sp)
{
	if (k->n == 0 || k->pc != pc || k->sp != sp)
		return false;
	for (uint32_t i = 1; i < k->n; i++)
		if (!frame_has_return(t_self.uc, k->slots[i], k->stack[i]))
			return false;
	return true;
}

uint32_t rt_stack_kept(uint64_t *stack)
{
	struct warm_stack *k;
	uint64_t pc;

	if (!t_self.uc)
		return 0;
	pc = detour_original(frame_pc(t_self.uc));
	k = &g_warm->stacks[(pc ^ pc >> 7) % WARM_STACKS];
	if (!is_same(k, pc, frame_sp(t_self.uc))) {
		struct walk w = { .stack = k->stack, .slots = k->slots, .pc = pc };

		k->n = 0;
		walk_stack(&w);
		if (w.n == 0)
			k->stack[w.n++] = w.pc;
		k->pc = w.pc;
		k->sp = frame_sp(t_self.uc);
		/* stored last: a process that is killed before leaves no entry */
		__atomic_store_n(&k->n, w.n, __ATOMIC_RELEASE);
	}
	for (uint32_t i = 0; i < k->n; i++)
		stack[i] = k->stack[i];
	if (t_self.is_in_call)
		stack[0] -= arch_call_bytes; /* the call instruction itself */
	return k->n;
}
