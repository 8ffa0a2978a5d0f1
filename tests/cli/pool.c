/* A program with one store to PM, for tests of the command line: pool FILE [HOW-IT-ENDS]. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine.h"

static __attribute__((noinline)) void update(long *pool)
{
	pool[8] = 42; /* STORE */
	flush_line_now(&pool[8]);
	fence();
}

/* A child in a session of its own stores once more, a while after its parent has ended. */
static void go_on_alone(long *pool)
{
	int ends[2];
	char c;

	if (pipe(ends) < 0)
		exit(97);
	if (fork() > 0)
		return;
	setsid();
	close(ends[1]);
	if (read(ends[0], &c, 1) != 0) /* the end of the parent */
		exit(96);
	usleep(300000);
	update(pool);
}

int main(int argc, char **argv)
{
	const char *end = argc > 2 ? argv[2] : "";
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0644) : -1;
	long *pool;

	if (fd < 0 || ftruncate(fd, 8192) < 0)
		return 99;
	pool = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pool == MAP_FAILED)
		return 98;
	update(pool);
	if (strcmp(end, "segv") == 0)
		raise(SIGSEGV);
	if (strcmp(end, "wait") == 0) {
		puts("ready");
		fflush(stdout);
		pause();
	}
	if (strcmp(end, "daemon") == 0)
		go_on_alone(pool);
	return atoi(end);
}
