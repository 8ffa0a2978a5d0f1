/* A program with a bug, or without, that ends as it is told: dies POOL HOW [HOW]...
 *	bug    a store that is fenced, but never flushed
 *	late   a store that nothing follows: what comes next in a correct program would be its flush
 *	flushed   the same with its flush: the fence would come next
 *	said   a line is printed, after what was stored before
 *	half   the first of two stores that belong together; "whole" is their recovery, which wants both or none
 *	many   four stores that become durable in any order; "sum" reads them all
 *	locked   a locked instruction that is not about persistent memory
 *	good   a store with its flush and fence
 *	thread what follows up to "join" is done by another thread, which ends; or up to "leave": which stays
 *	fork   a child does the next HOW and is killed
 *	segv, kill, term, abort, alone, wait, 7, 0   the end */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/machine.h"

struct line {
	_Alignas(64) volatile unsigned long n;
};

static struct line *g_pool;
static char **g_next;
static pthread_barrier_t g_done;

static void persist(struct line *l)
{
	flush_line_alt(&l->n);
	fence();
}

static void do_one(const char *how);

static void *work(void *stays)
{
	while (*g_next && strcmp(*g_next, "join") != 0 && strcmp(*g_next, "leave") != 0)
		do_one(*g_next++);
	pthread_barrier_wait(&g_done);
	if (stays)
		pause();
	return NULL;
}

static void start_thread(void)
{
	char **end = g_next;
	pthread_t t;

	while (*end && strcmp(*end, "join") != 0 && strcmp(*end, "leave") != 0)
		end++;
	pthread_barrier_init(&g_done, NULL, 2);
	if (pthread_create(&t, NULL, work, *end && strcmp(*end, "leave") == 0 ? g_pool : NULL) != 0)
		exit(95);
	pthread_barrier_wait(&g_done);
	if (*end && strcmp(*end, "join") == 0)
		pthread_join(t, NULL);
	g_next = *end ? end + 1 : end;
}

static void start_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		do_one(*g_next);
		kill(getpid(), SIGKILL);
	}
	waitpid(child, NULL, 0);
	g_next++;
}

static void store_bug(void)
{
	g_pool[1].n = 1; /* BUG */
	fence();
}

static void store_late(void)
{
	g_pool[2].n = 2; /* LATE */
}

static void store_many(void)
{
	for (int i = 7; i < 11; i++)
		g_pool[i].n = 1;
	for (int i = 7; i < 11; i++)
		flush_line_alt(&g_pool[i].n);
	fence();
}

static void read_many(void)
{
	unsigned long sum = 0;

	for (int i = 7; i < 11; i++)
		sum += g_pool[i].n;
	exit(sum > 4);
}

static void do_one(const char *how)
{
	if (strcmp(how, "bug") == 0)
		store_bug();
	else if (strcmp(how, "late") == 0)
		store_late();
	else if (strcmp(how, "flushed") == 0) {
		g_pool[3].n = 3; /* FLUSHED */
		flush_line_alt(&g_pool[3].n);
	} else if (strcmp(how, "locked") == 0) {
		__atomic_fetch_add(&g_next, 0, __ATOMIC_SEQ_CST); /* no fence for PM: nothing waits for it */
	} else if (strcmp(how, "good") == 0) {
		g_pool[4].n = 4;
		persist(&g_pool[4]);
	} else if (strcmp(how, "said") == 0) {
		puts("done");
		fflush(stdout);
	} else if (strcmp(how, "half") == 0)
		g_pool[5].n = 5; /* g_pool[6].n would be next */
	else if (strcmp(how, "whole") == 0)
		exit(g_pool[5].n && !g_pool[6].n ? 9 : 0);
	else if (strcmp(how, "many") == 0)
		store_many();
	else if (strcmp(how, "sum") == 0)
		read_many();
	else if (strcmp(how, "thread") == 0)
		start_thread();
	else if (strcmp(how, "fork") == 0)
		start_child();
	else if (strcmp(how, "segv") == 0)
		*(volatile char *)8 = 1;
	else if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	else if (strcmp(how, "term") == 0)
		kill(getpid(), SIGTERM);
	else if (strcmp(how, "abort") == 0)
		abort();
	else if (strcmp(how, "alone") == 0) /* the last thread ends, nobody calls exit_group */
		syscall(SYS_exit, 0);
	else if (strcmp(how, "wait") == 0)
		pause();
	else
		exit(atoi(how));
}

int main(int argc, char **argv)
{
	int fd = argc > 2 ? open(argv[1], O_RDWR | O_CREAT, 0644) : -1;

	if (fd < 0 || ftruncate(fd, 8192) < 0)
		return 99;
	g_pool = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (g_pool == MAP_FAILED)
		return 98;
	g_pool[0].n = 1;
	persist(&g_pool[0]);
	g_next = argv + 2;
	while (*g_next) {
		char *how = *g_next++;

		do_one(how);
	}
	return 0;
}
