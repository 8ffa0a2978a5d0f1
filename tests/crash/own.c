/* A program with functions of its own that have the names of the C library's, and that others in its process find first. They work for the program alone: whoever else
 * calls them, or calls them before main(), ends it. Its recovery copies with its own memcpy, whose loads get detours.
 *
 *	PROG POOL run N | PROG POOL recover		status 1: what was copied is wrong */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "pm.h"

enum { WORDS = 64, POOL_BYTES = 4096 };

static volatile bool g_is_started; /* main() is */
static volatile int g_calls;	   /* the program is calling its own function */

static void only_ours(bool is_ours, const char *name)
{
	if (is_ours)
		return;
	syscall(SYS_write, 2, "not for others: ", 16);
	for (; *name; name++)
		syscall(SYS_write, 2, name, 1);
	syscall(SYS_write, 2, "\n", 1);
	syscall(SYS_exit_group, 9);
}

#define OURS() only_ours(g_calls > 0, __func__)
#define STARTED() only_ours(g_is_started, __func__)

/* ---- bytes: nobody else's ---- */

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	OURS();
	for (size_t i = 0; i + 8 <= n; i += 8)
		*(volatile uint64_t *)((char *)to + i) = *(const volatile uint64_t *)((const char *)from + i);
	for (size_t i = n & ~7ul; i < n; i++)
		((volatile char *)to)[i] = ((const volatile char *)from)[i];
	return to;
}

void *memset(void *to, int c, size_t n)
{
	OURS();
	for (size_t i = 0; i < n; i++)
		((volatile char *)to)[i] = (char)c;
	return to;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	OURS();
	while (((const volatile char *)s)[n])
		n++;
	return n;
}

int memcmp(const void *a, const void *b, size_t n)
{
	OURS();
	for (size_t i = 0; i < n; i++)
		if (((const volatile char *)a)[i] != ((const volatile char *)b)[i])
			return 1;
	return 0;
}

/* ---- memory: the C library asks for it, too, but only when main() has begun ---- */

static char g_heap[1 << 16] __attribute__((aligned(16)));
static size_t g_heap_used;

void *malloc(size_t n)
{
	size_t at = g_heap_used;

	STARTED();
	g_heap_used = at + ((n + 31) & ~15ul);
	if (g_heap_used > sizeof g_heap)
		return NULL;
	return g_heap + at;
}

void free(void *p)
{
	(void)p;
}

void *calloc(size_t n, size_t each)
{
	return malloc(n * each);
}

void *realloc(void *p, size_t n)
{
	char *new = malloc(n);

	for (size_t i = 0; p && new && i < n && (char *)p + i < g_heap + sizeof g_heap; i++)
		((volatile char *)new)[i] = ((char *)p)[i];
	return new;
}

/* ---- system calls ---- */

ssize_t write(int fd, const void *bytes, size_t n)
{
	OURS();
	return syscall(SYS_write, fd, bytes, n);
}

#define NOBODYS(type, name, ...) type name(__VA_ARGS__) { only_ours(false, #name); for (;;) ; }

NOBODYS(ssize_t, read, int fd, void *to, size_t n)
NOBODYS(ssize_t, send, int fd, const void *from, size_t n, int flags)
NOBODYS(ssize_t, recv, int fd, void *to, size_t n, int flags)
NOBODYS(int, poll, struct pollfd *list, nfds_t n, int timeout)
NOBODYS(int, kill, pid_t pid, int sig)
NOBODYS(pid_t, waitpid, pid_t pid, int *status, int options)
NOBODYS(int, setpgid, pid_t pid, pid_t group)
NOBODYS(pid_t, fork, void)
NOBODYS(int, nanosleep, const struct timespec *time, struct timespec *left)
NOBODYS(char *, getenv, const char *name)
NOBODYS(int, unsetenv, const char *name)
NOBODYS(int, mprotect, void *at, size_t n, int prot)
NOBODYS(int, munmap, void *at, size_t n)

/* ---- the program ---- */

static int recover(const uint64_t *p)
{
	uint64_t copy[WORDS - 8];
	int status = 0;

	if (p[0] == 0)
		return 0;
	for (int again = 0; again < 50 && status == 0; again++) {
		uint64_t *list = malloc(sizeof copy);

		if (!list)
			return 2;
		g_calls++;
		memcpy(copy, p + 8, sizeof copy);
		memcpy(list, copy, sizeof copy);
		status = memcmp(list, p + 8, sizeof copy) != 0;
		g_calls--;
		for (uint64_t i = 0; i < WORDS - 8; i++)
			if (copy[i] != (i + 8) * 3)
				status = 1;
	}
	g_calls++;
	if (write(1, status ? "wrong\n" : "fine\n", status ? 6 : 5) < 0)
		status = 1;
	g_calls--;
	return status;
}

int main(int argc, char **argv)
{
	uint64_t *p, n = 0;

	g_is_started = true;
	if (argc > 2 && argv[2][0] == 'r' && argv[2][1] == 'e')
		return (p = pool_open(argv[1], POOL_BYTES)) ? recover(p) : 0;
	if (argc < 4)
		return 3;
	p = pool_create(argv[1], POOL_BYTES);
	for (uint64_t i = 8; i < WORDS; i++)
		p[i] = i * 3;
	persist(p + 8, (WORDS - 8) * sizeof *p);
	for (const char *c = argv[3]; *c; c++)
		n = n * 10 + (uint64_t)(*c - '0');
	for (uint64_t i = 1; i <= n; i++) {
		*(volatile uint64_t *)&p[WORDS + i % 8] = i; /* never flushed, never read */
		*(volatile uint64_t *)&p[0] = i;
		persist(p, sizeof *p);
	}
	return 0;
}
