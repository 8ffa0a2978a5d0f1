/* What only amd64's instructions do: they fault in the middle of a move, trap after each instruction, and fault when they divide by zero. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "run.h"

#define LINE(offset) { offset, { { 0, 8, 7 } } }

static sigjmp_buf g_out;
static char *g_pool;
static volatile siginfo_t g_info;
static volatile uint64_t g_ntraps;

static void note_fault(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	g_info = *si;
	(void)WORD(g_pool, 0); /* undecided, inside a handler */
	siglongjmp(g_out, 1);
}

/* A move from PM whose destination is bad: the fault comes in the middle of a step. */
static int fault_in_step(void)
{
	struct sigaction a = { .sa_sigaction = note_fault, .sa_flags = SA_SIGINFO };
	const char *volatile from;
	char *volatile to = (char *)0x4000;
	volatile uint64_t n = 1;

	g_pool = map_pool();
	from = g_pool + 64;
	sigaction(SIGSEGV, &a, NULL);
	if (!sigsetjmp(g_out, 1))
		__asm__ volatile("movsq" : "+S"(from), "+D"(to) : : "memory");
	printf("%lx ", (long)g_info.si_addr);
	from = g_pool + 64;
	to = (char *)0x5000;
	if (!sigsetjmp(g_out, 1))
		__asm__ volatile("rep movsq" : "+S"(from), "+D"(to), "+c"(n) : : "memory");
	printf("%lx %lu", (long)g_info.si_addr, WORD(g_pool, 64));
	return 0;
}

static void on_trap(int sig)
{
	(void)sig;
	g_ntraps++;
}

static int own_trap_flag(void)
{
	char *p = map_pool();
	uint64_t v;

	signal(SIGTRAP, on_trap);
	__asm__ volatile("sub $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; mov (%1), %0; pushfq; andq $~0x100, (%%rsp); popfq; add $128, %%rsp"
			 : "=&r"(v) : "r"(p) : "memory", "cc");
	printf("%lu %lu", v, g_ntraps);
	return 0;
}

static int dies_divide(void)
{
	char *p = map_pool();
	volatile int zero = (int)WORD(p, 8);

	return 100 / zero;
}

const struct test machine_tests[] = {
	{ "fault-in-step", fault_in_step, { LINE(0), LINE(64) }, { { 1, 0, 1, 2 }, { 0, 0, 1, 2 } }, "4000 5000 7" },
	{ "own-trap-flag", own_trap_flag, { LINE(0), LINE(64) }, { { 0, 0, 1, 2 } }, "7 4" },
	{ "dies-divide", dies_divide, { LINE(0) }, { { 0 } }, "", SIGFPE },
	{ 0 },
};
