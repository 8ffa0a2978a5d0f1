/* Makes a scratch folder, and a guardian: a process that removes the folder however pmend ends. A
 * signal handler could not do that, because SIGKILL cannot be caught. The guardian sends no signal
 * when it ends, and a plain wait() does not find it, so code that waits for all children does not
 * wait for it. */
#include "util/tempdir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/files.h"

enum {
	KEEP = 'k',   /* tells the guardian to leave the folder */
	REMOVE = 'r', /* tells the guardian to remove it, as it also does when the pipe closes */
	TRIES = 50,   /* a program that pmend recorded may still be writing */
	PAUSE_MS = 100,
};

/* ---- removing ---- */

/* An entry as the kernel gives it (getdents64(2)). readdir() would need memory, and the guardian
 * must work when memory is out. */
struct entry {
	uint64_t number;
	int64_t next;
	unsigned short len_bytes;
	unsigned char type;
	char name[];
};

static void tree_remove_at(int parent, const char *name);

static void remove_entries(int fd)
{
	_Alignas(struct entry) char room[4096];
	const struct entry *e;
	long n;

	while ((n = syscall(SYS_getdents64, fd, room, sizeof room)) > 0)
		for (long at = 0; at < n; at += e->len_bytes) {
			e = (const struct entry *)(room + at);
			if (strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0)
				tree_remove_at(fd, e->name);
		}
}

static void tree_remove_at(int parent, const char *name)
{
	int fd;

	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && fchmodat(parent, name, 0700, 0) == 0)
		fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		fchmod(fd, 0700);
		remove_entries(fd);
		if (unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno == ENOTEMPTY &&
		    lseek(fd, 0, SEEK_SET) == 0)
			remove_entries(fd); /* some file systems skip entries while others go */
		close(fd);
	}
	unlinkat(parent, name, AT_REMOVEDIR);
}

void tree_remove(const char *path)
{
	tree_remove_at(AT_FDCWD, path);
}

/* ---- the guardian ---- */

static void let_go_of_everything(int fd)
{
	int null;

	setsid();
	prctl(PR_SET_NAME, "pmend-guardian");
	/* signals to the terminal's group, and to pmend's, must not end it */
	for (int i = 1; i < 32; i++)
		if (i != SIGCHLD)
			signal(i, SIG_IGN);
	if (fd != 3)
		dup2(fd, 3);
	syscall(SYS_close_range, 4u, ~0u, 0u);
	null = open("/dev/null", O_RDWR);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	if (null > 2 && null != 3)
		close(null);
}

_Noreturn static void guardian_main(const char *folder, int fd)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
	char told = 0;

	let_go_of_everything(fd);
	if (chdir("/") < 0)
		_exit(1);
	while (read(3, &told, 1) < 0 && errno == EINTR)
		;
	for (int i = 0; told != KEEP && i < TRIES; i++) {
		tree_remove(folder);
		if (access(folder, F_OK) < 0)
			break;
		nanosleep(&pause, NULL);
	}
	_exit(0);
}

struct guardian {
	pid_t owner; /* 0 when the guardian has ended */
	pid_t pid;
	int alive; /* the pipe's end that pmend holds; it closes when pmend dies */
};

static void guardian_end(struct guardian *g, char what)
{
	/* closing alone is not enough: a forked process may still have the pipe */
	ssize_t ignored = write(g->alive, &what, 1);

	(void)ignored;
	close(g->alive);
	while (waitpid(g->pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	g->owner = 0;
}

/* Runs when a process exits, and waits until the folder is gone. A process that was forked
 * meanwhile is not the owner. */
static void guardian_at_exit(int status, void *arg)
{
	struct guardian *g = arg;

	(void)status;
	if (g->owner == getpid())
		guardian_end(g, REMOVE);
	free(g);
}

static int guardian_start(struct tempdir *t, struct guardian *g, struct error *err)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_set(err, "cannot make a pipe: %s", strerror(errno));
	*g = (struct guardian){ .owner = getpid(), .alive = fds[1] };
	/* fork() would make the guardian send SIGCHLD */
	g->pid = (pid_t)syscall(SYS_clone, 0UL, 0UL, 0UL, 0UL, 0UL);
	if (g->pid == 0) {
		close(fds[1]);
		guardian_main(t->path, fds[0]);
	}
	close(fds[0]);
	if (g->pid < 0) {
		close(fds[1]);
		return error_set(err, "cannot start a process: %s", strerror(errno));
	}
	on_exit(guardian_at_exit, g);
	t->guardian = g;
	return 0;
}

/* ---- the folder ---- */

/* Makes the folder and its guardian. The path of the folder must be absolute: the guardian's
 * current folder is /. */
int tempdir_open(struct tempdir *t, struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	char *under = path_real_or_same(tmp && *tmp ? tmp : "/tmp");
	/* allocated before the folder exists, because failing ends pmend */
	struct guardian *g = xcalloc(1, sizeof *g);

	*t = (struct tempdir){ .path = xasprintf("%s/pmend-XXXXXX", under) };
	free(under);
	if (!mkdtemp(t->path)) {
		error_set(err, "cannot make a folder %s: %s; set TMPDIR", t->path, strerror(errno));
	} else if (guardian_start(t, g, err) < 0) {
		rmdir(t->path);
	} else {
		return 0;
	}
	free(g);
	free(t->path);
	t->path = NULL;
	return -1;
}

void tempdir_close(struct tempdir *t)
{
	if (!t->path)
		return;
	guardian_end(t->guardian, REMOVE);
	free(t->path);
	t->path = NULL;
}

char *tempdir_keep(struct tempdir *t)
{
	char *path = t->path;

	guardian_end(t->guardian, KEEP);
	t->path = NULL;
	return path;
}
