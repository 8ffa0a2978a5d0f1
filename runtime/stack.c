/* Call stacks of the interrupted program, by its call frame information, which is slow: the last ones are kept, also for later runs of the same
 * server (warm.c), and used again where the same instruction is reached with the same stack pointer and the same return addresses in the same
 * places. The walk begins in our own handler and passes the signal frame (see rt_restore in gate.c). A program whose stack is broken makes the walk
 * fault: it ends there. */
#include <unwind.h>

#include "internal.h"

struct walk {
	uint64_t *stack;
	uint64_t *slots; /* where each was on the stack; NULL: not asked for */
	uint64_t rip; /* where the interrupted program was: everything before is ours */
	uint32_t n;
	uint32_t nours;
};

static _Unwind_Reason_Code walk_frame(struct _Unwind_Context *context, void *arg)
{
	struct walk *w = arg;
	uint64_t ip = _Unwind_GetIP(context);

	if (w->n == 0 && ip != w->rip)
		return ++w->nours < 64 ? _URC_NO_REASON : _URC_END_OF_STACK;
	if (ip == 0)
		return _URC_END_OF_STACK;
	if (w->slots)
		w->slots[w->n] = _Unwind_GetCFA(context) - 8;
	w->stack[w->n++] = ip;
	return w->n < RUN_STACK ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* Where the program would be if there were no detours; the place where it is. */
static uint64_t set_place(uint64_t rip)
{
	greg_t *at = (greg_t *)&t_self.uc->uc_mcontext.gregs[REG_RIP];
	uint64_t was = (uint64_t)*at;

	*at = (greg_t)rip;
	return was;
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
	uint64_t is = set_place(w->rip);

	walk_frames(w);
	set_place(is);
}

uint32_t rt_stack(uint64_t *stack)
{
	struct walk w = { .stack = stack, .rip = 0 };

	if (!t_self.uc)
		return 0;
	w.rip = detour_original((uint64_t)t_self.uc->uc_mcontext.gregs[REG_RIP]);
	walk_stack(&w);
	if (w.n == 0)
		stack[w.n++] = w.rip;
	if (t_self.is_in_call)
		stack[0] -= 2; /* the instruction itself */
	return w.n;
}

static bool is_same(const struct warm_stack *k, uint64_t rip, uint64_t rsp)
{
	if (k->n == 0 || k->rip != rip || k->rsp != rsp)
		return false;
	for (uint32_t i = 1; i < k->n; i++) { /* the first is not on the stack */
		uint64_t is;

		if (!rt_copy_in(&is, k->slots[i], sizeof is) || is != k->stack[i])
			return false;
	}
	return true;
}

uint32_t rt_stack_kept(uint64_t *stack)
{
	const greg_t *g = t_self.uc ? t_self.uc->uc_mcontext.gregs : NULL;
	struct warm_stack *k;
	uint64_t rip;

	if (!g)
		return 0;
	rip = detour_original((uint64_t)g[REG_RIP]);
	k = &g_warm->stacks[(rip ^ rip >> 7) % WARM_STACKS];
	if (!is_same(k, rip, (uint64_t)g[REG_RSP])) {
		struct walk w = { .stack = k->stack, .slots = k->slots, .rip = rip };

		k->n = 0;
		walk_stack(&w);
		if (w.n == 0)
			k->stack[w.n++] = w.rip;
		k->rip = w.rip;
		k->rsp = (uint64_t)g[REG_RSP];
		__atomic_store_n(&k->n, w.n, __ATOMIC_RELEASE); /* last: who is killed here leaves none */
	}
	for (uint32_t i = 0; i < k->n; i++)
		stack[i] = k->stack[i];
	if (t_self.is_in_call)
		stack[0] -= 2; /* the instruction itself */
	return k->n;
}
