/* What a recovery may do, good and bad: target ACTION [ARG]... Built dynamic and static. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what)
{
	perror(what);
	exit(9);
}

static int pool_open(const char *path, struct stat *st)
{
	int fd = open(path, O_RDWR);

	if (fd < 0 || fstat(fd, st) < 0)
		fail(path);
	return fd;
}

static char *pool_map(const char *path, struct stat *st)
{
	int fd = pool_open(path, st);
	char *p = mmap(NULL, (size_t)st->st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	close(fd);
	return p;
}

static int do_exit(char **a)
{
	return atoi(a[0]);
}

static int do_segv(char **a)
{
	(void)a;
	*(volatile char *)8 = 1;
	return 0;
}

static int do_hang(char **a)
{
	(void)a;
	while (1)
		pause();
	return 0;
}

/* Writes its number to a file, if there is one, when it does. */
static int do_ignore_term(char **a)
{
	FILE *f;

	signal(SIGTERM, SIG_IGN);
	f = a[0] ? fopen(a[0], "w") : NULL;
	if (f && (fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f) != 0))
		fail("ignore-term");
	return do_hang(a);
}

static int do_stop_parent(char **a)
{
	kill(getppid(), SIGSTOP);
	return do_hang(a);
}

static int do_kill_parent(char **a)
{
	kill(getppid(), SIGKILL);
	return do_hang(a);
}

/* daemon PIDFILE [hang]: what has left its parents, its group and its session behind. */
static int do_daemon(char **a)
{
	int status[2];
	char c;
	pid_t middle;

	if (pipe(status) < 0)
		fail("pipe");
	middle = fork();
	if (middle == 0) {
		setsid();
		if (fork() == 0) {
			FILE *f = fopen(a[0], "w");

			signal(SIGTERM, SIG_IGN);
			signal(SIGHUP, SIG_IGN);
			fprintf(f, "%d\n", (int)getpid());
			fclose(f);
			if (write(status[1], "x", 1) == 1)
				for (;;)
					pause();
		}
		_exit(0);
	}
	if (read(status[0], &c, 1) != 1)
		fail("read");
	/* else it may still be there when we end, and count as left behind, too */
	if (waitpid(middle, NULL, 0) != middle)
		fail("waitpid");
	return a[1] ? do_hang(a) : 0;
}

/* print BYTES */
static int do_print(char **a)
{
	static char buf[1 << 16];
	unsigned long long left = strtoull(a[0], NULL, 10);

	memset(buf, 'x', sizeof buf);
	memcpy(buf, "begin", 5);
	while (left) {
		size_t n = left < sizeof buf ? (size_t)left : sizeof buf;

		if (left == n)
			memcpy(buf + n - 4, "end\n", 4);
		if (write(1, buf, n) != (ssize_t)n)
			fail("write");
		left -= n;
	}
	return 0;
}

/* eat MIB: exits with 4 if it may not have them */
static int do_eat(char **a)
{
	size_t n = (size_t)atoi(a[0]) << 20;
	char *p = malloc(n);

	if (!p)
		return 4;
	memset(p, 1, n);
	return 0;
}

/* fill FILE MIB: of a new file; dies of SIGXFSZ or exits with 5 */
static int do_fill(char **a)
{
	static char buf[1 << 20];
	int fd = open(a[0], O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (int i = 0; i < atoi(a[1]); i++)
		if (write(fd, buf, sizeof buf) != (ssize_t)sizeof buf)
			return 5;
	return 0;
}

/* get POOL OFFSET...: bytes, as numbers */
static int do_get(char **a)
{
	struct stat st;
	char *p = pool_map(a[0], &st);

	printf("%lld:", (long long)st.st_size);
	for (a++; *a; a++)
		printf(" %d", (unsigned char)p[atoll(*a)]);
	printf("\n");
	return 0;
}

/* exists POOL: exit status 0 or 1 */
static int do_exists(char **a)
{
	struct stat st;

	return stat(a[0], &st) < 0;
}

/* put POOL OFFSET VALUE, put-sys: the same by pwrite() */
static int do_put(char **a)
{
	struct stat st;
	char *p = pool_map(a[0], &st);

	p[atoll(a[1])] = (char)atoi(a[2]);
	return 0;
}

static int do_put_sys(char **a)
{
	struct stat st;
	int fd = pool_open(a[0], &st);
	char c = (char)atoi(a[2]);

	return pwrite(fd, &c, 1, atoll(a[1])) != 1;
}

/* replace POOL: by another file of 3 bytes */
static int do_replace(char **a)
{
	int fd;

	if (unlink(a[0]) < 0)
		fail("unlink");
	fd = open(a[0], O_RDWR | O_CREAT | O_EXCL, 0600);
	return fd < 0 || write(fd, "abc", 3) != 3;
}

static int do_unlink(char **a)
{
	return unlink(a[0]) < 0;
}

/* rename POOL OTHER, where OTHER is a PM file, too */
static int do_rename(char **a)
{
	return rename(a[0], a[1]) < 0;
}

static int do_truncate(char **a)
{
	struct stat st;
	int fd = pool_open(a[0], &st);

	return ftruncate(fd, atoll(a[1])) < 0;
}

/* punch POOL: all of it */
static int do_punch(char **a)
{
	struct stat st;
	int fd = pool_open(a[0], &st);

	return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, st.st_size) < 0;
}

static int do_chmod(char **a)
{
	struct stat st;
	int fd = pool_open(a[0], &st);

	return fchmod(fd, 0) < 0;
}

/* scan POOL: reads a byte of each page; prints the sum */
static int do_scan(char **a)
{
	struct stat st;
	char *p = pool_map(a[0], &st);
	unsigned sum = 0;

	for (long long i = 0; i < st.st_size; i += 4096)
		sum += (unsigned char)p[i];
	printf("%u\n", sum);
	return 0;
}

static int do_cat(char **a)
{
	int c;

	(void)a;
	while ((c = getchar()) != EOF)
		putchar(c);
	return 0;
}

/* nonblock: leaves standard output in a state that it should not be in */
static int do_nonblock(char **a)
{
	int old = fcntl(1, F_GETFL);

	(void)a;
	fcntl(1, F_SETFL, old | O_NONBLOCK);
	printf("%d\n", (old & O_NONBLOCK) != 0);
	return 0;
}

static int do_env(char **a)
{
	const char *v = getenv(a[0]);

	printf("%s\n", v ? v : "(none)");
	return 0;
}

static int do_address(char **a)
{
	(void)a;
	printf("%p\n", (void *)&do_address);
	return 0;
}

#ifdef MISSING
void nowhere(void); /* is not defined: what never calls it runs all the same */
void missing(void);

void missing(void)
{
	nowhere();
}
#endif

#ifdef THREAD_CONSTRUCTOR
#include <pthread.h>

/* As helper threads do: it takes no signals. */
static void *thread(void *arg)
{
	const struct timespec short_time = { 0, 1000000 };

	for (;;)
		nanosleep(&short_time, NULL);
	return arg;
}

__attribute__((constructor)) static void constructor(void)
{
	sigset_t all, old;
	pthread_t t;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&t, NULL, thread, NULL) != 0)
		abort();
	sigprocmask(SIG_SETMASK, &old, NULL);
}
#endif

#ifdef BAD_CONSTRUCTOR
__attribute__((constructor)) static void constructor(void)
{
	raise(SIGSEGV);
}
#endif

static const struct action {
	const char *name;
	int (*run)(char **a);
} actions[] = {
	{ "exit", do_exit },	     { "segv", do_segv },	{ "hang", do_hang },	     { "ignore-term", do_ignore_term },
	{ "daemon", do_daemon },     { "print", do_print },	{ "eat", do_eat },	     { "fill", do_fill },
	{ "get", do_get },	     { "exists", do_exists },	{ "put", do_put },	     { "put-sys", do_put_sys },
	{ "replace", do_replace },   { "unlink", do_unlink },	{ "rename", do_rename },     { "truncate", do_truncate },
	{ "punch", do_punch },	     { "chmod", do_chmod },	{ "scan", do_scan },	     { "cat", do_cat },
	{ "nonblock", do_nonblock }, { "env", do_env },		{ "address", do_address },   { "stop-parent", do_stop_parent },
	{ "kill-parent", do_kill_parent },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof actions / sizeof *actions; i++)
		if (strcmp(argv[1], actions[i].name) == 0)
			return actions[i].run(argv + 2);
	fprintf(stderr, "no such action\n");
	return 2;
}
