/* What a fault with its step, and a dispatched system call, cost in units of the same thing done natively. Named only:
 * build/tests/runtime/runtime cost */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
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

/* The page fault of a page that is not there, and getppid, outside of a run: by a child that is not preloaded. */
static int cost(void)
{
	char *p = map_pool();
	int null = fileno(fopen("/dev/null", "w"));
	double fault, call, pm, plain;

	fault = reads_us(p);
	call = calls_us();
	pm = pm_writes_us(null, p + 128);
	plain = pm_writes_us(null, (char *)&fault);
	fprintf(stderr, "in a run: fault+step %.1f us, getppid %.1f us, write %.1f us, write from PM %.1f us\n", fault, call, plain, pm);
	return 0;
}

static double anonymous_faults_us(void)
{
	char *p = mmap(NULL, N * 4096ul, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double start = now_us();

	for (int i = 0; i < N; i++)
		p[i * 4096l] = 1;
	return (now_us() - start) / N;
}

void cost_native(void)
{
	int null = fileno(fopen("/dev/null", "w"));
	double d = 0;

	printf("native: page fault %.1f us, getppid %.2f us, write %.2f us\n", anonymous_faults_us(), calls_us(),
	       pm_writes_us(null, (char *)&d));
}

const struct test cost_tests[] = {
	{ "cost", cost, { { 0, { { 0, 8, 7 } } } }, { { 0 } }, "", 0, BY_NAME, NULL },
	{ 0 },
};
