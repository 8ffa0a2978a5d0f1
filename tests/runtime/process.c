/* Processes and threads of recovery share what is decided. */
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.h"
#include "pmend.h"
#include "pmend_run.h"
#include "run.h"

#define TWO(offset) { offset, { { 0, 8, 1 }, { 8, 8, 2 } } }

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static int forked(void)
{
	char *p = map_pool();
	pid_t pid = fork();

	if (pid == 0) {
		WORD(p, 16) = 3;
		_exit((int)WORD(p, 8));
	}
	printf("%d ", WEXITSTATUS(wait_for(pid)));
	printf("%lu %lu", WORD(p, 0), WORD(p, 16)); /* decided by the child */
	return 0;
}

static int vforked(void)
{
	char *p = map_pool();
	pid_t pid;

	setenv("LC_ALL", "POSIX", 1); /* cmp says "byte" instead of "char" elsewhere */
	pid = vfork();
	if (pid == 0) {
		execlp("cmp", "cmp", "-n8", "pool", "/dev/zero", NULL);
		_exit(127);
	}
	printf("%d %lu", WEXITSTATUS(wait_for(pid)), WORD(p, 0));
	return 0;
}

extern char **environ;

static int spawned(void)
{
	char *argv[] = { "od", "-An", "-tu8", "-N16", "pool", NULL }, *none[] = { NULL };
	pid_t pid;
	int r;

	map_pool();
	r = posix_spawnp(&pid, "od", NULL, NULL, argv, none); /* without an environment */
	printf("%d", r || wait_for(pid));
	fflush(stdout);
	printf(" %d", posix_spawn(&pid, "/does/not/exist", NULL, NULL, argv, environ) == ENOENT);
	return 0;
}

static int shell(void)
{
	map_pool();
	fflush(stdout);
	printf("%d", system("od -An -tu8 -N16 pool | tr -d ' '; test -s pool && echo yes"));
	return 0;
}

/* A static program, which the makefile puts beside this one. */
static int cannot_preload(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof "_static");

	if (n < 0)
		return 1;
	strcpy(path + n, "_static");
	execl(path, path, NULL);
	return 1;
}

static void *read_word(void *at)
{
	return (void *)WORD((char *)at, 0);
}

static int threads(void)
{
	char *p = map_pool();
	pthread_t t[8];
	uintptr_t sum = 0;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 8; i++)
			if (pthread_create(&t[i], NULL, read_word, p + i % 2 * 64))
				return 1;
		for (int i = 0; i < 8; i++) {
			void *v;

			pthread_join(t[i], &v);
			sum += (uintptr_t)v;
		}
	}
	printf("%lu", (unsigned long)sum);
	return 0;
}

static volatile int g_start, g_stop;

/* One thread's step must not open the page for another. */
static void *step_all_the_time(void *p)
{
	for (; !g_stop; g_start = 1)
		(void)WORD((char *)p, 64);
	return NULL;
}

static int threads_race(void)
{
	char *p = map_pool();
	pthread_t t;
	uint64_t sum = 0;

	if (pthread_create(&t, NULL, step_all_the_time, p))
		return 1;
	while (!g_start)
		;
	for (int i = 0; i < 300; i++) {
		WORD(p, 128 + i % 8 * 8) = 1;
		sum += WORD(p, 192);
	}
	sum += WORD(p, 0);
	g_stop = 1;
	pthread_join(t, NULL);
	printf("%lu", sum);
	return 0;
}

/* Threads that map, unmap and protect, while others read, with and without the kernel: what stays mapped is there all the time, and each word is decided once. */
#define STRESS_ROUNDS 400

static void *map_all_the_time(void *p)
{
	uint64_t sum = 0;

	(void)p;
	for (int i = 0; i < STRESS_ROUNDS; i++) {
		char *other = map_pool();

		sum += WORD(other, 4096);
		munmap(other + 8192, 4096); /* what is around it stays */
		sum += WORD(other, 12288);
		munmap(other, POOL_BYTES);
	}
	return (void *)(uintptr_t)(sum == STRESS_ROUNDS * 4);
}

static void *protect_all_the_time(void *p)
{
	uint64_t n = 0;

	for (int i = 0; i < STRESS_ROUNDS; i++)
		n += mprotect((char *)p + 5 * 4096, 4096, i % 2 ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
	return (void *)(uintptr_t)(n == STRESS_ROUNDS);
}

static void *write_all_the_time(void *p)
{
	uint64_t v, n = 0;
	int ends[2];

	if (pipe(ends) < 0)
		return NULL;
	for (int i = 0; i < STRESS_ROUNDS; i++)
		n += write(ends[1], (char *)p + 8, 8) == 8 && read(ends[0], &v, 8) == 8 && v == 2;
	return (void *)(uintptr_t)(n == STRESS_ROUNDS);
}

static void *read_all_the_time(void *p)
{
	uint64_t sum = 0;

	for (int i = 0; i < STRESS_ROUNDS; i++)
		sum += WORD((char *)p, 5 * 4096) + WORD((char *)p, 6 * 4096);
	return (void *)(uintptr_t)(sum == STRESS_ROUNDS);
}

static int threads_map(void)
{
	void *(*const all[])(void *) = { map_all_the_time, map_all_the_time, protect_all_the_time, write_all_the_time, read_all_the_time };
	pthread_t t[sizeof all / sizeof all[0]];
	char *p = map_pool();

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (pthread_create(&t[i], NULL, all[i], p))
			return 1;
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		void *is_right;

		pthread_join(t[i], &is_right);
		printf("%d", is_right != NULL);
	}
	return 0;
}

/* A thread whose stack is nearly full: calls, faults and steps need none of it. */
#define LEFT_BYTES 1024u

static char *g_small;

static __attribute__((noinline)) uint64_t use_little(char *p)
{
	char path[] = "./pool";
	uint64_t sum = 0;
	long fd = syscall(SYS_openat, -100, path, 0);

	sum += WORD(p, 0) + (uint64_t)(syscall(SYS_pread64, fd, path, 4, 8) == 4) * 10;
	WORD(p, 16) += 100;
	syscall(SYS_close, fd);
	return sum + WORD(p, 16);
}

static void *fill_stack(void *p)
{
	const uint64_t here = (uint64_t)__builtin_frame_address(0), n = here - (uint64_t)g_small - LEFT_BYTES;
	volatile char *room = __builtin_alloca(n);

	room[0] = 1;
	return (void *)use_little(p);
}

static int small_stack(void)
{
	const size_t bytes = (size_t)sysconf(_SC_THREAD_STACK_MIN);
	char *p = map_pool();
	pthread_attr_t how;
	pthread_t t;
	void *sum;

	g_small = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(g_small, 4096, PROT_NONE);
	g_small += 4096;
	pthread_attr_init(&how);
	syscall(SYS_getppid); /* the loader finds it now, with more stack */
	for (int i = 0; i < 3; i++) { /* the runtime's own stack is used again */
		if (pthread_attr_setstack(&how, g_small, bytes) || pthread_create(&t, &how, fill_stack, p))
			return 1;
		pthread_join(t, &sum);
		printf("%lu ", (unsigned long)sum);
	}
	return 0;
}

/* The decision's stack: the load itself, then the callers. The reader looks at its own region. */
static __attribute__((noinline)) uint64_t load_here(char *p)
{
	uint64_t v = WORD(p, 0);

	__asm__ volatile("" : : : "memory");
	return v + 1;
}

static __attribute__((noinline)) uint64_t call_it(char *p)
{
	return load_here(p) * 2;
}

static __attribute__((noinline)) uint64_t call_otherwise(char *p)
{
	return load_here(p) * 3;
}

static bool is_in(uint64_t at, const void *function)
{
	return at - (uint64_t)function < 64;
}

static int stacks(void)
{
	char *p = map_pool();
	struct run_region *r = (struct run_region *)map_file(getenv(RUN_ENV_REGION), PROT_READ, MAP_SHARED);
	struct run_decision *d = (struct run_decision *)((char *)r + r->decisions);
	uint64_t v = call_it(p);

	printf("%lu %d %d %d ", v, is_in(d->stack[0], load_here), is_in(d->stack[1], call_it), d->nframes > 4);
	fflush(stdout);
	if (write(1, p + 8, 1) != 1) /* a system call's: the call in libc, then this function */
		return 1;
	printf(" %d %d", IS_CALL(d[1].stack[0]), is_in(d[1].stack[1] - 32, stacks) || d[1].nframes > 3);
	return 0;
}

/* The same load with the same stack pointer, from other callers: a stack that is kept is not the one of another call. */
static int stacks_kept(void)
{
	char *p = map_pool();
	struct run_region *r = (struct run_region *)map_file(getenv(RUN_ENV_REGION), PROT_READ, MAP_SHARED);
	struct run_decision *d = (struct run_decision *)((char *)r + r->decisions);
	uint64_t v = 0;

	for (int i = 0; i < 4; i++)
		v += i == 1 ? call_otherwise(p + 64 * i) : call_it(p + 64 * i);

	printf("%lu %d %d %d %d", v, is_in(d[0].stack[1], call_it), is_in(d[1].stack[1], call_otherwise), is_in(d[2].stack[1], call_it),
	       is_in(d[3].stack[1], call_it));
	return 0;
}

static int annotated(void)
{
	char *p = map_pool();

	printf("%d %lu", PMEND_IN_RECOVERY(), WORD(p, 0));
	PMEND_DONE();
	printf("not reached");
	return 1;
}

/* A child of the forked child, with the runtime's state of both. */
static int grandchild(void)
{
	char *p = map_pool();
	pid_t pid = fork();

	if (pid == 0) {
		pid = fork();
		if (pid == 0)
			_exit((int)WORD(p, 8));
		_exit(WEXITSTATUS(wait_for(pid)));
	}
	printf("%d", WEXITSTATUS(wait_for(pid)));
	return 0;
}

static void on_signal(int sig)
{
	(void)sig;
}

/* As posix_spawn() and system() of newer C libraries do it: the child has no handlers. */
static int cleared(void)
{
	static const uint64_t flags[] = { CLONE_CLEAR_SIGHAND, CLONE_CLEAR_SIGHAND | CLONE_VM | CLONE_VFORK };
	struct sigaction is;
	char *p = map_pool();

	signal(SIGUSR1, on_signal);
	signal(SIGSYS, on_signal);
	signal(SIGUSR2, SIG_IGN);
	for (int i = 0; i < 2; i++) {
		struct clone_args args = { .flags = flags[i], .exit_signal = SIGCHLD };
		const pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);

		if (pid == 0) {
			const int signals[] = { SIGUSR1, SIGSYS, SIGUSR2 };
			int result = (int)WORD(p, 8); /* a system call and a closed page later, it is still there */

			for (int k = 0; k < 3; k++) {
				sigaction(signals[k], NULL, &is);
				result = result * 10 + (is.sa_handler == SIG_DFL ? 0 : is.sa_handler == SIG_IGN ? 1 : 2);
			}
			_exit(result & 0xff);
		}
		printf("%d ", WEXITSTATUS(wait_for(pid)));
	}
	sigaction(SIGSYS, NULL, &is);
	printf("%d", is.sa_handler == on_signal);
	return 0;
}

const struct test process_tests[] = {
	{ "fork", forked, { TWO(0) }, { { 0, 8, 1, 2 } }, "2 1 3" },
	{ "grandchild", grandchild, { TWO(0) }, { { 0, 8, 1, 2 } }, "2" },
	{ "no-handlers", cleared, { TWO(0) }, { { 0, 8, 1, 2 } }, "209 209 1" },
	{ "spawn", spawned, { TWO(0) }, { { 0, 0, 1, 2 }, { 0, 8, 1, 2 } }, "                    1                    2\n0 1" },
	{ "shell", shell, { TWO(0) }, { { 0, 0, 1, 2 }, { 0, 8, 1, 2 } }, "12\nyes\n0" },
	{ "threads", threads, { TWO(0), TWO(64) }, { { 0, 0, 1, 2 }, { 1, 0, 1, 2 } }, "24", 0, NO_KEYS_UNSOUND | UNORDERED },
	{ "threads-race", threads_race, { TWO(0), TWO(64) }, { { 1, 0, 1, 2 }, { 0, 0, 1, 2 } }, "1", 0, NO_KEYS_UNSOUND | UNORDERED },
	{ "threads-map", threads_map, { TWO(0), { 4096, { { 0, 8, 1 } } }, { 12288, { { 0, 8, 3 } } }, { 5 * 4096, { { 0, 8, 1 }, { 8, 8, 2 } } }, { 6 * 4096, { { 8, 8, 2 } } } },
	  { { 0, 8, 1, 2 }, { 1, 0, 1, 2 }, { 2, 0, 1, 2 }, { 3, 0, 1, 2 } }, "11111", 0, NO_KEYS_UNSOUND | UNORDERED },
	{ "small-stack", small_stack, { TWO(0) }, { { 0, 0, 1, 2 }, { 0, 8, 1, 2 } }, "111 211 311 ", 0, NO_KEYS_UNSOUND },
	{ "vfork", vforked, { TWO(0) }, { { 0, 0, 1, 2 } }, "pool /dev/zero differ: char 1, line 1\n1 1" },
	{ "cannot-preload", cannot_preload, { TWO(0) }, { { 0 } }, NULL, 0, 0, "recovery starts a program that cannot be preloaded" },
	{ "stacks", stacks, { { 0, { { 0, 8, 1 }, { 8, 8, '+' } } } }, { { 0, 0, 1, 2 }, { 0, 8, 1, 2 } }, "4 1 1 1 + 1 1" },
	{ "stacks-kept", stacks_kept, { TWO(0), TWO(64), TWO(128), TWO(192) }, { { 0, 0, 1, 2 }, { 1, 0, 1, 2 }, { 2, 0, 1, 2 }, { 3, 0, 1, 2 } }, "18 1 1 1 1" },
	{ "annotated", annotated, { TWO(0) }, { { 0, 0, 1, 2 } }, "1 1" },
	{ 0 },
};
