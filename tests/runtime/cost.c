/* What a load from a closed page, and a dispatched system call, cost, beside a fault that a native program catches. In processor time. Named only:
 * build/tests/runtime/runtime cost */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "run.h"
#include "machine.h"

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

#define N 3000

static double reads_us(char *p)
{
	double start = now_us();

	for (int i = 0; i < N; i++)
		(void)WORD(p, 128 + i % 8 * 8);
	return (now_us() - start) / N;
}

static double calls_us(void)
{
	double start = now_us();

	for (int i = 0; i < N; i++)
		syscall(SYS_getppid);
	return (now_us() - start) / N;
}

static double pm_writes_us(int fd, char *p)
{
	double start = now_us();

	for (int i = 0; i < N; i++)
		if (write(fd, p, 8) != 8)
			return 0;
	return (now_us() - start) / N;
}

static double vectors_us(char *p)
{
	double start = now_us();

	for (int i = 0; i < N; i++)
		VECTOR_LOAD(p + 128);
	return (now_us() - start) / N;
}

static int cost(void)
{
	char *p = map_pool();
	int null = fileno(fopen("/dev/null", "w"));
	double load = reads_us(p), step = vectors_us(p), call = calls_us(), plain = pm_writes_us(null, (char *)&load);

	fprintf(stderr, "in a run: load %.1f us, stepped load %.1f us, getppid %.1f us, write %.1f us, write from PM %.1f us\n", load, step, call,
		plain, pm_writes_us(null, p + 128));
	return 0;
}

static void on_signal(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	(void)sig, (void)si;
	CONTEXT_PC(uc) += LOAD_NULL_BYTES;
}

/* A fault, a signal, and its return: what everything is measured by. */
static double signals_us(void)
{
	struct sigaction a = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, old;
	uint64_t v;
	double start;

	sigaction(SIGSEGV, &a, &old);
	start = now_us();
	for (int i = 0; i < N; i++)
		LOAD_NULL(v);
	(void)v;
	start = (now_us() - start) / N;
	sigaction(SIGSEGV, &old, NULL);
	return start;
}

void cost_native(void)
{
	int null = fileno(fopen("/dev/null", "w"));
	double d = 0;

	printf("native: a fault that is caught %.1f us, getppid %.2f us, write %.2f us\n", signals_us(), calls_us(),
	       pm_writes_us(null, (char *)&d));
}

const struct test cost_tests[] = {
	{ "cost", cost, { { 0, { { 0, 8, 7 } } } }, { { 0 } }, "", 0, BY_NAME, NULL },
	{ 0 },
};
