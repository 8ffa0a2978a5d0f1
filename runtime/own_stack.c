/* Provides stacks for our signal handlers. Each thread has one, as the kernel's alternate stack. So
 * the program's stack, which may be small, is not used. The stack that the program itself sets by
 * sigaltstack() is stored in t_self (calls/signal_calls.c). The stack of a finished thread is used
 * again. */
#include <sys/auxv.h>
#include <sys/mman.h>

#include "internal.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

#define MAX_STACKS 1024u
/* most signals inside of each other; with vectors, a frame is large, and the kernel says how
 * large */
#define DEEP 4u
#define ROOM_BYTES (256u << 10)

static struct {
	uint64_t at;
	int32_t tid; /* STACK_FREE, STACK_TAKEN, or the thread that has it */
} g_stacks[MAX_STACKS];
static uint64_t g_bytes;

enum { STACK_FREE = 0, STACK_TAKEN = -1 };

static bool is_free(int32_t tid)
{
	return tid == STACK_FREE || (tid > 0 && CALL2(SYS_tkill, tid, 0) == -3 /* ESRCH */);
}

static uint64_t map_stack(void)
{
	const long at = CALL6(SYS_mmap, 0, g_bytes + PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	/* the lowest page is inaccessible, so that an overflow faults */
	if (IS_ERROR(at) || CALL3(SYS_mprotect, at, PAGE, PROT_NONE) != 0)
		return 0;
	return (uint64_t)at + PAGE;
}

bool own_stack_take(stack_t *s)
{
	uint32_t i = 0;
	uint64_t at;

	while (i < MAX_STACKS && g_stacks[i].at && !is_free(g_stacks[i].tid))
		i++;
	at = i < MAX_STACKS && g_stacks[i].at ? g_stacks[i].at : map_stack();
	if (!at)
		return false;
	if (i < MAX_STACKS) {
		g_stacks[i].at = at;
		g_stacks[i].tid = STACK_TAKEN;
	}
	*s = (stack_t){ .ss_sp = (void *)at, .ss_size = g_bytes };
	return true;
}

void own_stack_give(const stack_t *s, long tid)
{
	for (uint32_t i = 0; i < MAX_STACKS; i++)
		if (g_stacks[i].at == (uint64_t)s->ss_sp)
			g_stacks[i].tid = tid > 0 ? (int32_t)tid : STACK_FREE;
}

bool own_stack_is_on(const ucontext_t *uc)
{
	return !(uc->uc_stack.ss_flags & SS_DISABLE) &&
	       frame_sp(uc) - (uint64_t)uc->uc_stack.ss_sp < uc->uc_stack.ss_size;
}

bool own_stack_is_near(const ucontext_t *uc)
{
	return frame_sp(uc) + PAGE - (uint64_t)uc->uc_stack.ss_sp < uc->uc_stack.ss_size + PAGE;
}

void own_stack_init(void)
{
	stack_t own, old;

	g_bytes = PAGE_UP(ROOM_BYTES + DEEP * getauxval(AT_MINSIGSTKSZ));
	if (!own_stack_take(&own) || CALL2(SYS_sigaltstack, &own, &old) != 0)
		rt_unsound("no memory for the runtime's own stack");
	if (!(old.ss_flags & SS_DISABLE))
		t_self.alt_asked = old;
}
