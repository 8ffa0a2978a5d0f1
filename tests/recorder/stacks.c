/* Call stacks through everything that does not return the way it was called. Built with -O0 and -O2, recorded with
 * --check-stacks. A chain names functions from the innermost one out; "f~" is inlined, "*" is any number of frames. */
#include "tests/recorder/expect.h"
#include "tests/machine.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

typedef volatile uint64_t vu64;
#define NOINLINE __attribute__((noinline, noclone))
#define KEEP_FRAME() __asm__ volatile("") /* after a call: it is no tail call then */

static vu64 *pm;
static char *volatile nowhere = (char *)16;

NOINLINE static void leaf(const char *chain)
{
	STORE_CHAIN(pm, 8, chain, pm[0]++);
	KEEP_FRAME();
}

/* Plain calls, and inlined functions in between. */
__attribute__((always_inline)) static inline void inlined_leaf(void)
{
	STORE_CHAIN(pm + 1, 8, "inlined_leaf~ < inlined_middle~ < inlining < main", pm[1] = 5);
}

__attribute__((always_inline)) static inline void inlined_middle(void)
{
	inlined_leaf();
}

NOINLINE static void inlining(void)
{
	inlined_middle();
	KEEP_FRAME();
	leaf("leaf < inlining < main");
	KEEP_FRAME();
}

/* longjmp out of nested calls. */
static jmp_buf jump;

NOINLINE static void jumps(int depth)
{
	leaf(depth == 3 ? "leaf < jumps < jumps < jumps < jumps < jumping < main" : "leaf < jumps < * < jumping < main");
	if (depth == 3)
		longjmp(jump, 1);
	if (pm[0]) /* always, but the compiler does not know */
		jumps(depth + 1);
	KEEP_FRAME();
}

NOINLINE static void jumping(void)
{
	for (volatile int i = 0; i < 3; i++) {
		if (setjmp(jump) == 0)
			jumps(0);
		leaf("leaf < jumping < main");
	}
	KEEP_FRAME();
}

/* Deep recursion: `depth` frames of it. */
NOINLINE static void recurse(int depth, int bottom)
{
	if (depth % 2500 == 0) {
		pm[2] = (uint64_t)depth;
		expect_begin("store");
		expect_place(pm + 2);
		expect_key_text("repeats", "recurse");
		expect_key_number("times", (uint64_t)depth);
		expect_end();
	}
	if (depth < bottom)
		recurse(depth + 1, bottom);
	KEEP_FRAME();
}

/* Tail calls replace the caller's frame. */
NOINLINE static void tail_callee(int n)
{
#ifdef __OPTIMIZE__
	STORE_CHAIN(pm + 3, 8, "tail_callee < tails < main", pm[3] = (uint64_t)n);
#else
	STORE_CHAIN(pm + 3, 8, "tail_callee < tail_caller < tails < main", pm[3] = (uint64_t)n);
#endif
}

NOINLINE static void tail_caller(int n)
{
	tail_callee(n + 1);
}

NOINLINE static void tails(void)
{
	for (int i = 0; i < 3; i++) {
		tail_caller(i);
		leaf("leaf < tails < main");
	}
	KEEP_FRAME();
}

/* Signals: the handler is on top of the interrupted function. */
static const char *signal_chain;
static sigjmp_buf signal_jump;

/* Without libc in between, so that the interrupted function is known. */
NOINLINE static void send(int number)
{
	CALL(SYS_tgkill, getpid(), gettid(), number);
	KEEP_FRAME();
}

NOINLINE static void in_handler(void)
{
	leaf(signal_chain);
	KEEP_FRAME();
}

static void on_usr1(int number)
{
	in_handler();
	KEEP_FRAME();
	(void)number;
}

/* A signal in a handler of another. */
static void on_usr2(int number)
{
	signal_chain = "leaf < in_handler < on_usr1 < send < on_usr2 < send < signals < main";
	send(SIGUSR1);
	leaf("leaf < on_usr2 < send < signals < main");
	KEEP_FRAME();
	(void)number;
}

static void on_segv(int number)
{
	leaf("leaf < on_segv < faults < signals < main");
	siglongjmp(signal_jump, number);
}

NOINLINE static void faults(void)
{
	*(volatile char *)nowhere = 1;
	KEEP_FRAME();
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	CHECK(sigaction(number, &action, NULL) == 0);
}

NOINLINE static void signals(int flags)
{
	handle(SIGUSR1, on_usr1, flags);
	handle(SIGUSR2, on_usr2, flags);
	handle(SIGSEGV, on_segv, flags);
	signal_chain = "leaf < in_handler < on_usr1 < send < signals < main";
	send(SIGUSR1);
	leaf("leaf < signals < main");
	send(SIGUSR2);
	leaf("leaf < signals < main");
	for (volatile int i = 0; i < 3; i++) {
		if (sigsetjmp(signal_jump, 1) == 0)
			faults();
		leaf("leaf < signals < main");
	}
	KEEP_FRAME();
}

NOINLINE static void signals_on_own_stack(void)
{
	static char stack[64 << 10] __attribute__((aligned(16)));
	stack_t s = {.ss_sp = stack, .ss_size = sizeof(stack)};

	CHECK(sigaltstack(&s, NULL) == 0);
}

/* Coroutines take turns, each on its own stack. */
static ucontext_t scheduler, coroutine[3];

NOINLINE static void yields(int self)
{
	swapcontext(&coroutine[self], &scheduler);
	leaf("leaf < yields < coroutine_inner < coroutine_body < *");
	KEEP_FRAME();
}

NOINLINE static void coroutine_inner(int self)
{
	leaf("leaf < coroutine_inner < coroutine_body < *");
	yields(self);
	leaf("leaf < coroutine_inner < coroutine_body < *");
	KEEP_FRAME();
}

static void coroutine_body(int self)
{
	for (int i = 0; i < 3; i++)
		coroutine_inner(self);
	leaf("leaf < coroutine_body < *");
	KEEP_FRAME();
}

NOINLINE static void resume_some(int i)
{
	leaf("leaf < resume_some < coroutines < main");
	swapcontext(&scheduler, &coroutine[i]);
	leaf("leaf < resume_some < coroutines < main");
	KEEP_FRAME();
}

NOINLINE static void coroutines(void)
{
	static char in_bss[64 << 10] __attribute__((aligned(16)));
	char *stacks[3] = {malloc(64 << 10), in_bss, mmap(NULL, 64 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};

	for (volatile int i = 0; i < 3; i++) { /* getcontext returns twice, as far as the compiler knows */
		CHECK(getcontext(&coroutine[i]) == 0);
		coroutine[i].uc_stack.ss_sp = stacks[i];
		coroutine[i].uc_stack.ss_size = 64 << 10;
		coroutine[i].uc_link = &scheduler;
		makecontext(&coroutine[i], (void (*)(void))coroutine_body, 1, i);
	}
	for (int turn = 0; turn < 4; turn++)
		for (int i = 0; i < 3; i++)
			resume_some(i);
	leaf("leaf < coroutines < main");
	free(stacks[0]);
	KEEP_FRAME();
}

/* libc calls back. */
NOINLINE static int compare(const void *a, const void *b)
{
	STORE_CHAIN(pm + 4, 4, "compare < * < sorting < main", *(volatile int *)(pm + 4) = *(const int *)a);
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void sorting(void)
{
	int numbers[] = {5, 3, 9, 1, 7, 2};

	qsort(numbers, 6, sizeof(int), compare);
	leaf("leaf < sorting < main");
	KEEP_FRAME();
}

/* Threads take turns in the middle of a call. One leaves by pthread_exit. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

NOINLINE static void take_turn(int self, const char *chain)
{
	pthread_mutex_lock(&lock);
	while (turn % 3 != self)
		pthread_cond_wait(&changed, &lock);
	leaf(chain);
	turn++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	KEEP_FRAME();
}

NOINLINE static void thread_deep(int self)
{
	take_turn(self, "leaf < take_turn < thread_deep < thread_main < *");
	take_turn(self, "leaf < take_turn < thread_deep < thread_main < *");
	if (self == 2)
		pthread_exit(NULL);
	KEEP_FRAME();
}

static void *thread_main(void *arg)
{
	thread_deep((int)(intptr_t)arg);
	return arg;
}

NOINLINE static void threads(void)
{
	pthread_t t[2];

	for (intptr_t i = 0; i < 2; i++)
		CHECK(pthread_create(&t[i], NULL, thread_main, (void *)(i + 1)) == 0);
	take_turn(0, "leaf < take_turn < threads < main");
	take_turn(0, "leaf < take_turn < threads < main");
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	leaf("leaf < threads < main");
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	pm = (vu64 *)pool_map(pool_path(argv[1], "pool"), 4096);
	inlining();
	jumping();
	recurse(1, 10000);
	leaf("leaf < main");
	tails();
	signals(0);
	signals_on_own_stack();
	signals(SA_ONSTACK);
	coroutines();
	sorting();
	threads();
	leaf("leaf < main");
	return 0;
}
