/* Call stacks of the interrupted program, by its call frame information. The walk begins in our own handler and passes the signal frame
 * (see rt_restore in gate.c). A program whose stack is broken makes the walk fault: it ends there. */
#include <unwind.h>

#include "inner.h"

struct walk {
	uint64_t *stack;
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
	w->stack[w->n++] = ip;
	return w->n < RUN_STACK ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static __attribute__((noinline)) void walk_stack(struct walk *w)
{
	if (__builtin_setjmp(t_self.unwind_failed)) {
		t_self.is_unwinding = false;
		return;
	}
	t_self.is_unwinding = true;
	_Unwind_Backtrace(walk_frame, w);
	t_self.is_unwinding = false;
}

uint32_t rt_stack(uint64_t *stack)
{
	struct walk w = { .stack = stack, .rip = 0 };

	if (!t_self.uc)
		return 0;
	w.rip = (uint64_t)t_self.uc->uc_mcontext.gregs[REG_RIP];
	walk_stack(&w);
	if (w.n == 0)
		stack[w.n++] = w.rip;
	if (t_self.is_in_call)
		stack[0] -= 2; /* the instruction itself */
	return w.n;
}
