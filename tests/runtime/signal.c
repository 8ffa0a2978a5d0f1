/* Signals: the program's own handlers work as ever, and deaths are noted. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "run.h"
#include "machine.h"

#define LINE(offset) { offset, { { 0, 8, 7 } } }

static sigjmp_buf g_out;
static char *g_pool;
static volatile siginfo_t g_info;
static volatile uint64_t g_seen;

static void on_fault(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	g_info = *si;
	g_seen = WORD(g_pool, 0); /* undecided, inside a handler */
	siglongjmp(g_out, 1);
}

static int own_handler(void)
{
	struct sigaction a = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO }, old;

	g_pool = map_pool();
	sigaction(SIGSEGV, &a, NULL);
	if (!sigsetjmp(g_out, 1))
		*(volatile char *)0x1234 = 1;
	sigaction(SIGSEGV, NULL, &old);
	printf("%lx %d %lu %lu %d", (long)g_info.si_addr, g_info.si_code == SEGV_MAPERR, g_seen, WORD(g_pool, 64),
	       old.sa_sigaction == on_fault && old.sa_flags & SA_SIGINFO);
	return 0;
}

/* Writing to PM that the program itself has made read-only is its own fault. */
static int read_only(void)
{
	struct sigaction a = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	g_pool = map_pool();
	mprotect(g_pool, 4096, PROT_READ);
	sigaction(SIGSEGV, &a, NULL);
	if (!sigsetjmp(g_out, 1))
		WORD(g_pool, 0) = 1;
	printf("%d %d %lu", g_info.si_addr == g_pool, g_info.si_code == SEGV_ACCERR, g_seen);
	return 0;
}

static void skip_instruction(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	(void)sig, (void)si;
	CONTEXT_PC(uc) += LOAD_NULL_BYTES;
	CONTEXT_RESULT(uc) = 33;
}

static int changed_context(void)
{
	struct sigaction a = { .sa_sigaction = skip_instruction, .sa_flags = SA_SIGINFO };
	uint64_t v;

	map_pool();
	sigaction(SIGSEGV, &a, NULL);
	LOAD_NULL(v);
	printf("%lu", v);
	return 0;
}

static int blocked(void)
{
	sigset_t all, old;
	char *p = map_pool();

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	printf("%lu ", WORD(p, 0));
	sigprocmask(SIG_UNBLOCK, NULL, &old);
	printf("%d %d %d ", sigismember(&old, SIGSEGV), sigismember(&old, SIGSYS), sigismember(&old, SIGUSR1));
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	sigprocmask(SIG_SETMASK, NULL, &old);
	printf("%d %d %lu", sigismember(&old, SIGTRAP), sigismember(&old, SIGUSR1), WORD(p, 64));
	return 0;
}

static void on_alarm(int sig)
{
	(void)sig;
	g_seen += WORD(g_pool, 64);
}

static int interrupted(void)
{
	struct sigaction a = { .sa_handler = on_alarm };
	struct itimerval soon = { { 0, 0 }, { 0, 50000 } };
	sigset_t all;
	int ends[2];
	ssize_t n;
	char *p = g_pool = map_pool();

	sigfillset(&a.sa_mask);
	sigaction(SIGALRM, &a, NULL);
	if (pipe(ends) < 0)
		return 1;
	setitimer(ITIMER_REAL, &soon, NULL);
	n = read(ends[0], p + 128, 8); /* into PM: done for the program */
	printf("%zd %d %lu ", n, errno == EINTR, g_seen);
	setitimer(ITIMER_REAL, &soon, NULL);
	n = read(ends[0], &a, 1);
	printf("%zd %d %lu ", n, errno == EINTR, g_seen);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	sigdelset(&all, SIGALRM);
	sigsuspend(&all);
	printf("%lu ", g_seen);
	setitimer(ITIMER_REAL, &soon, NULL);
	n = pselect(0, NULL, NULL, NULL, NULL, &all);
	printf("%zd %d %lu", n, errno == EINTR, g_seen);
	return 0;
}

/* Signals that come at any time, also between a fault and its step. */
static int many_signals(void)
{
	struct sigaction a = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } };
	char *p = g_pool = map_pool();
	uint64_t sum = 0;

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 2000 || g_seen < 70; i++)
		sum += WORD(p, 128);
	memset(&often, 0, sizeof(often));
	setitimer(ITIMER_REAL, &often, NULL);
	printf("%lu %d %lu", sum, g_seen % 7 == 0, WORD(p, 0));
	return 0;
}

static int overflow(volatile char *p)
{
	volatile char frame[4096];

	frame[0] = *p;
	return *p ? 0 : overflow(frame) + frame[0];
}

static void on_overflow(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	siglongjmp(g_out, 1);
}

static int alternate_stack(void)
{
	static char room[8192];
	stack_t s = { .ss_sp = room, .ss_size = sizeof(room) }, old;
	struct sigaction a = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	char c = 0, *p = map_pool();

	sigaltstack(&s, NULL);
	sigaction(SIGSEGV, &a, NULL);
	if (!sigsetjmp(g_out, 1))
		return overflow(&c);
	sigaltstack(NULL, &old);
	printf("back %lu %d", WORD(p, 0), old.ss_sp == room && old.ss_size == sizeof(room) && old.ss_flags == 0);
	s.ss_flags = SS_DISABLE;
	sigaltstack(&s, NULL);
	sigaltstack(NULL, &old);
	printf(" %d", old.ss_flags == SS_DISABLE);
	return 0;
}

static char *g_room;
static volatile int g_is_on;
static sigjmp_buf g_routine, g_main;

static void on_own_stack(int sig)
{
	stack_t s;
	char here, c;

	(void)sig;
	sigaltstack(NULL, &s);
	g_is_on = &here >= g_room && &here < g_room + 65536 && s.ss_flags == SS_ONSTACK;
	g_seen += WORD(g_pool, 0);
	c = (char)g_seen;
	if (sigsetjmp(g_routine, 0)) { /* long after the handler returned, as libraries for coroutines do */
		g_seen += (uint64_t)c;
		siglongjmp(g_main, 1);
	}
}

/* Handlers run on the stack that the program asked for, and nobody else does. */
static int own_stack(void)
{
	stack_t s = { .ss_size = 65536 }, none = { .ss_flags = SS_DISABLE };
	struct sigaction a = { .sa_handler = on_own_stack, .sa_flags = SA_ONSTACK };

	g_pool = map_pool();
	s.ss_sp = g_room = malloc(65536);
	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGSEGV, &a, NULL);
	raise(SIGUSR1);
	printf("%d ", g_is_on);
	sigaltstack(&none, NULL);
	for (int i = 0; i < 100; i++)
		getppid();
	if (!sigsetjmp(g_main, 0))
		siglongjmp(g_routine, 1);
	printf("%lu ", g_seen);
	sigaltstack(&s, NULL);
	g_is_on = 0;
	raise(SIGSEGV);
	printf("%d", g_is_on);
	return 0;
}

static void on_fault_again(int sig)
{
	g_seen++;
	*(volatile char *)8 = (char)sig;
}

/* A handler that faults itself: the signal is blocked, so that it dies, on the alternate stack or not. */
static int dies_in_handler(void)
{
	struct sigaction a = { .sa_handler = on_fault_again, .sa_flags = SA_ONSTACK };
	static char room[16384];
	stack_t s = { .ss_sp = room, .ss_size = sizeof room };

	map_pool();
	sigaltstack(&s, NULL);
	sigaction(SIGSEGV, &a, NULL);
	return *(volatile char *)8;
}

static void on_fault_deep(int sig)
{
	char c = (char)(sig - sig);

	g_seen += (uint64_t)overflow(&c);
}

static int dies_deep_in_handler(void)
{
	struct sigaction a = { .sa_handler = on_fault_deep };

	map_pool();
	sigaction(SIGSEGV, &a, NULL);
	return *(volatile char *)8;
}

/* Recursion without end, and no other stack: it is noted, with its stack. */
static int dies_overflow(void)
{
	char c = 0;

	map_pool();
	return overflow(&c);
}

static void on_trap(int sig)
{
	g_seen += (uint64_t)sig;
}

static void on_break(int sig, siginfo_t *si, void *context)
{
	(void)si;
	CONTEXT_PC((ucontext_t *)context) += BREAK_BYTES;
	on_trap(sig);
}

static int traps(void)
{
	struct sigaction a = { .sa_sigaction = on_break, .sa_flags = SA_SIGINFO };
	char *p = map_pool();

	sigaction(SIGTRAP, &a, NULL);
	BREAK();
	signal(SIGTRAP, on_trap);
	signal(SIGSYS, on_trap);
	raise(SIGTRAP);
	raise(SIGSYS);
	printf("%lu %lu %d", g_seen, WORD(p, 0), signal(SIGTRAP, SIG_DFL) == on_trap);
	return 0;
}

static int dies_segv(void)
{
	char *p = map_pool();
	volatile char *bad = (volatile char *)WORD(p, 0);

	printf("before");
	fflush(stdout);
	return *bad;
}

static int dies_abort(void)
{
	map_pool();
	abort();
}

static int dies_bus(void)
{
	char *p = map_pool();

	if (truncate("pool", 4096) < 0)
		return 1;
	return p[8192];
}

static void block_all(int sig, siginfo_t *si, void *context)
{
	(void)sig, (void)si;
	sigfillset(&((ucontext_t *)context)->uc_sigmask);
}

/* A handler that blocks everything when it returns: the program's own signals, not those that we need. */
static int mask_at_return(void)
{
	struct sigaction a = { .sa_sigaction = block_all, .sa_flags = SA_SIGINFO }, old;
	sigset_t mask;
	char *p = map_pool();

	sigaction(SIGUSR1, &a, NULL);
	raise(SIGUSR1);
	sigaction(SIGUSR1, NULL, &old);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	printf("%d %d ", sigismember(&mask, SIGUSR1), old.sa_sigaction == block_all && old.sa_flags & SA_SIGINFO);
	fflush(stdout);
	printf("%lu", WORD(p, 0));
	return 0;
}

static uint64_t g_frames[64];
static int g_nframes;

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *arg)
{
	(void)arg;
	if (g_nframes < 64)
		g_frames[g_nframes++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static void on_user(int sig)
{
	(void)sig;
	_Unwind_Backtrace(note_frame, NULL);
}

static __attribute__((noinline)) int kill_self(void)
{
	int r = kill(getpid(), SIGUSR1);

	__asm__ volatile("" : : : "memory");
	return r;
}

static int is_on_stack(const void *function)
{
	for (int i = 0; i < g_nframes; i++)
		if (g_frames[i] - (uint64_t)function < 64)
			return 1;
	return 0;
}

/* The signal comes while the call is made: a walk of the stack finds who made it, and all of its callers. */
static __attribute__((noinline)) int unwinds(void)
{
	map_pool();
	signal(SIGUSR1, on_user);
	_Unwind_Backtrace(note_frame, NULL); /* whatever it needs is there now */
	g_nframes = 0;
	printf("%d ", kill_self());
	printf("%d %d", is_on_stack(kill_self), g_nframes > 6);
	return 0;
}

static int reset_handler(void)
{
	struct sigaction a = { .sa_handler = on_trap, .sa_flags = SA_RESETHAND };

	map_pool();
	sigaction(SIGSEGV, &a, NULL);
	return *(volatile char *)8;
}

const struct test signal_tests[] = {
	{ "own-handler", own_handler, { LINE(0), LINE(64) }, { { 0, 0, 1, 2 }, { 1, 0, 1, 2 } }, "1234 1 7 7 1", 0, BAD_KEYS },
	{ "read-only", read_only, { LINE(0), LINE(64) }, { { 0, 0, 1, 2 } }, "1 1 7" },
	{ "changed-context", changed_context, { LINE(0) }, { { 0 } }, "33" },
	{ "blocked", blocked, { LINE(0), LINE(64) }, { { 0, 0, 1, 2 }, { 1, 0, 1, 2 } }, "7 1 1 1 0 0 7", 0, BAD_KEYS },
	{ "interrupted", interrupted, { LINE(0), LINE(64), LINE(128) }, { { 1, 0, 1, 2 } }, "-1 1 7 -1 1 14 21 -1 1 28" },
	{ "many-signals", many_signals, { LINE(0), LINE(64) }, { { 1, 0, 1, 2 }, { 0, 0, 1, 2 } }, "0 1 7", 0, UNORDERED },
	{ "alternate-stack", alternate_stack, { LINE(0) }, { { 0, 0, 1, 2 } }, "back 7 1 1" },
	{ "own-stack", own_stack, { LINE(0) }, { { 0, 0, 1, 2 } }, "1 14 1", 0, CALLED_BY_OURS },
	{ "dies-overflow", dies_overflow, { LINE(0) }, { { 0 } }, "", SIGSEGV },
	{ "dies-in-handler", dies_in_handler, { LINE(0) }, { { 0 } }, "", SIGSEGV },
	{ "dies-deep-in-handler", dies_deep_in_handler, { LINE(0) }, { { 0 } }, "", SIGSEGV },
	{ "traps", traps, { LINE(0) }, { { 0, 0, 1, 2 } }, "41 7 1" },
	{ "dies-segv", dies_segv, { LINE(0) }, { { 0, 0, 1, 2 } }, "before", SIGSEGV },
	{ "dies-abort", dies_abort, { LINE(0) }, { { 0 } }, "", SIGABRT },
	{ "dies-bus", dies_bus, { LINE(0) }, { { 0 } }, "", SIGBUS },
	{ "mask-at-return", mask_at_return, { LINE(0) }, { { 0, 0, 1, 2 } }, "1 1 7" },
	{ "unwinds", unwinds, { LINE(0) }, { { 0 } }, "0 1 1" },
	{ "reset-handler", reset_handler, { LINE(0) }, { { 0 } }, "", SIGSEGV },
	{ 0 },
};
