/* Programs with habits that a tool underneath them notices: `habits HABIT write POOL` and `habits HABIT check POOL` do what plain does, and in the middle of
 * it, with PM mapped and something undecided, what HABIT names. One that does not work ends with status 9. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin.h"
#include "pool.h"

#define OUR_ERROR 77 /* of calls that our filter refuses */

extern char **environ;

static void want(int is_true, const char *what)
{
	if (!is_true) {
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
		_exit(9);
	}
}

static void habit_none(void)
{
}

static void habit_spawn(void)
{
	char *argv[] = { "true", NULL };
	int status = -1;
	pid_t pid;

	want((errno = posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ)) == 0, "posix_spawn");
	want(waitpid(pid, &status, 0) == pid && status == 0, "the spawned program");
}

static void habit_system(void)
{
	want(system("exit 3") == 3 << 8, "system");
}

/* A shell's limits, set by the program itself. */
static void habit_limits(void)
{
	static const struct { int what; rlim_t most; } limits[] = {
		{ RLIMIT_NOFILE, 8 }, { RLIMIT_AS, 1 << 30 }, { RLIMIT_STACK, 64 << 10 }, { RLIMIT_CORE, 0 }, { RLIMIT_FSIZE, POOL_BYTES }, { RLIMIT_NPROC, 1 },
	};
	struct rlimit is;

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		want(getrlimit(limits[i].what, &is) == 0, "getrlimit");
		want(setrlimit(limits[i].what, &(struct rlimit){ limits[i].most, is.rlim_max }) == 0, "setrlimit");
	}
	while (open("/dev/null", O_RDONLY) >= 0)
		;
	want(errno == EMFILE, "the limit of descriptors");
}

/* A limit that cannot be raised again. */
static void habit_hard_limit(void)
{
	want(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 8, 8 }) == 0, "setrlimit");
}

static void habit_no_new_privileges(void)
{
	want(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl");
}

static void filter_install(struct sock_filter *filter, size_t n)
{
	want(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl");
	want(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &(struct sock_fprog){ .len = (unsigned short)n, .filter = filter }) == 0, "seccomp");
}

/* A filter that refuses some calls. */
static void habit_filter(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | OUR_ERROR),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	filter_install(filter, sizeof filter / sizeof *filter);
	want(syscall(SYS_getppid) == -1 && errno == OUR_ERROR, "the refused call");
}

/* A filter that kills whoever makes another call than the few that the rest of the program needs: a sandbox. */
static void habit_sandbox(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	filter_install(filter, sizeof filter / sizeof *filter);
}

static volatile sig_atomic_t ntrapped;

static void on_sigsys(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	ntrapped += info->si_syscall == SYS_getppid;
}

/* A filter that sends a signal, which the program handles. */
static void habit_trap(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	want(sigaction(SIGSYS, &(struct sigaction){ .sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO }, NULL) == 0, "sigaction");
	filter_install(filter, sizeof filter / sizeof *filter);
	syscall(SYS_getppid);
	want(ntrapped == 1, "the trapped call");
}

/* ---- the work ---- */

static void first(struct pool *p)
{
	pool_first(p);
}

static void second(struct pool *p)
{
	pool_second(p);
}

static int wrong(struct pool *p)
{
	return pool_wrong(p);
}

static const struct plugin own = { first, second, wrong };

static const struct {
	const char *name;
	void (*act)(void);
	int is_threaded; /* the work is done on a small stack */
	int is_loaded;	 /* ... by a plug-in, which is loaded in the middle */
} habits[] = {
	{ "none", habit_none, 0, 0 },
	{ "spawn", habit_spawn, 0, 0 },
	{ "system", habit_system, 0, 0 },
	{ "stack", habit_none, 1, 0 },
	{ "limits", habit_limits, 0, 0 },
	{ "hard-limit", habit_hard_limit, 0, 0 },
	{ "no-new-privileges", habit_no_new_privileges, 0, 0 },
	{ "filter", habit_filter, 0, 0 },
	{ "sandbox", habit_sandbox, 0, 0 },
	{ "trap", habit_trap, 0, 0 },
	{ "plugin", habit_none, 0, 1 },
};

#define NHABITS (sizeof habits / sizeof *habits)

struct work {
	size_t habit;
	int is_check;
	struct pool *pool;
	int status;
};

static const struct plugin *load(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 16);
	void *object;

	want(n > 0, "readlink");
	path[n] = 0;
	strcpy(strrchr(path, '/'), "/plugin.so");
	object = dlopen(path, RTLD_NOW);
	want(object != NULL, "dlopen");
	return dlsym(object, "plugin");
}

static void *work(void *arg)
{
	struct work *w = arg;
	const struct plugin *p = &own;

	if (!w->is_check)
		p->first(w->pool);
	else if (w->pool->count > POOL_RECORDS) /* so that something is decided before, too */
		_exit(4);
	habits[w->habit].act();
	if (habits[w->habit].is_loaded)
		p = load();
	if (!w->is_check)
		p->second(w->pool);
	w->status = w->is_check ? p->wrong(w->pool) : 0;
	return NULL;
}

static void *map(const char *path, int is_check)
{
	int fd = open(path, is_check ? O_RDWR : O_RDWR | O_CREAT, 0644);
	struct stat st;
	void *p;

	if (fd < 0 && is_check && errno == ENOENT)
		exit(0); /* a crash came before there was a pool */
	want(fd >= 0 && (is_check || ftruncate(fd, POOL_BYTES) == 0) && fstat(fd, &st) == 0, path);
	if (st.st_size < (off_t)sizeof(struct pool))
		exit(0); /* ... or before it had its size */
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	want(p != MAP_FAILED, "mmap");
	close(fd);
	return p;
}

int main(int argc, char **argv)
{
	struct work w = { .is_check = argc == 4 && strcmp(argv[2], "check") == 0 };
	pthread_attr_t attr;
	pthread_t thread;

	while (w.habit < NHABITS && (argc != 4 || strcmp(argv[1], habits[w.habit].name) != 0))
		w.habit++;
	if (w.habit == NHABITS)
		return fprintf(stderr, "usage: habits HABIT write|check POOL\n"), 2;
	w.pool = map(argv[3], w.is_check);
	if (!habits[w.habit].is_threaded) {
		work(&w);
	} else {
		pthread_attr_init(&attr);
		want((errno = pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN)) == 0, "stack size");
		want((errno = pthread_create(&thread, &attr, work, &w)) == 0, "pthread_create");
		pthread_join(thread, NULL);
	}
	return w.status;
}
