/* Alternate signal stacks. Our handlers may run on the program's, below its own; one that is just large enough for the program is
 * replaced by a larger one. The program sees what it asked for. */
#include <errno.h>
#include <sys/mman.h>

#include "calls.h"

#define ENOUGH_BYTES (32u << 10)
#define OURS_BYTES (64u << 10)

static void release(void)
{
	if (t_self.alt_memory)
		CALL2(SYS_munmap, t_self.alt_memory, OURS_BYTES);
	t_self.alt_memory = 0;
}

static bool is_on(const stack_t *s, const ucontext_t *uc)
{
	return !(s->ss_flags & SS_DISABLE) &&
	       frame_sp(uc) - (uint64_t)s->ss_sp < (uint64_t)s->ss_size;
}

/* Returning from our handler makes uc_stack the thread's. */
static long replace(const stack_t *asked, ucontext_t *uc)
{
	long memory;

	if (asked->ss_size < 2048)
		return -ENOMEM;
	if (is_on(&uc->uc_stack, uc))
		return -EPERM;
	memory = CALL6(SYS_mmap, 0, OURS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (IS_ERROR(memory))
		return -ENOMEM;
	release();
	t_self.alt_asked = *asked;
	t_self.alt_memory = (uint64_t)memory;
	uc->uc_stack.ss_sp = (void *)memory;
	uc->uc_stack.ss_size = OURS_BYTES;
	uc->uc_stack.ss_flags = asked->ss_flags;
	return 0;
}

long altstack_call(const long a[6], ucontext_t *uc)
{
	bool is_replaced = t_self.alt_memory && (uint64_t)uc->uc_stack.ss_sp == t_self.alt_memory;
	stack_t asked, old = is_replaced ? t_self.alt_asked : uc->uc_stack;
	long r = 0;

	if (a[0] && !rt_copy_in(&asked, (uint64_t)a[0], sizeof(asked)))
		return -EFAULT;
	if (!is_replaced && (!a[0] || asked.ss_flags & SS_DISABLE || asked.ss_size >= ENOUGH_BYTES))
		return CALL_PASS;
	old.ss_flags = is_on(&uc->uc_stack, uc) ? SS_ONSTACK : uc->uc_stack.ss_flags & ~SS_ONSTACK;
	if (a[0] && (asked.ss_flags & SS_DISABLE || asked.ss_size >= ENOUGH_BYTES)) {
		if (is_on(&uc->uc_stack, uc))
			return -EPERM;
		release();
		uc->uc_stack = asked;
	} else if (a[0]) {
		r = replace(&asked, uc);
	}
	if (r == 0 && a[1] && !rt_copy_out((uint64_t)a[1], &old, sizeof(old)))
		return -EFAULT;
	return r;
}
