/* The serving side of the run protocol (pmend_run.h), shared by the two servers there are: runtime/ forks a program that is
 * ready to run, crash/ executes one that cannot be preloaded. A server adopts the orphans among its descendants, so after a run it finds
 * and kills everything that the run left, also what left its process group or session. It ends when its worker does. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pmend_run.h"

struct serve {
	int control;
	pid_t pid; /* of the server */
	/* Starts a run's first process, which calls serve_enter(). May return 0 there. */
	pid_t (*start)(struct serve *s);
	void *arg;
	int stdio_flags[3];   /* of standard input, output, error, which runs inherit and may change */
	uint64_t memory_bytes; /* address space in use before a run */
	uint64_t nthreads;    /* of this user before a run; 0: it is root, for whom there is no such limit */
};

static inline uint64_t serve_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* ---- processes ---- */

struct serve_process {
	pid_t pid, parent;
	bool is_marked;
};

/* Reads a small file of /proc, as a string. */
static inline ssize_t serve_read(const char *path, char *buf, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, room - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
	return n;
}

static inline pid_t serve_parent(pid_t pid)
{
	char path[64], stat[512], *end;
	int parent = -1;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (serve_read(path, stat, sizeof stat) > 0 && (end = strrchr(stat, ')')))
		sscanf(end + 1, " %*c %d", &parent);
	return parent;
}

/* Fills *list, which the caller frees. */
static inline size_t serve_processes(struct serve_process **list)
{
	size_t n = 0, room = 0;
	struct dirent *e;
	DIR *d = opendir("/proc");

	*list = NULL;
	while (d && (e = readdir(d))) {
		int pid = atoi(e->d_name);

		if (pid <= 0)
			continue;
		if (n == room) {
			size_t more = room ? 2 * room : 256;
			void *p = realloc(*list, more * sizeof **list);

			if (!p)
				break;
			*list = (struct serve_process *)p;
			room = more;
		}
		(*list)[n++] = (struct serve_process){ .pid = pid, .parent = serve_parent(pid) };
	}
	if (d)
		closedir(d);
	return n;
}

/* Marks the descendants of `of` (0: of no one) and of every process that is marked. */
static inline void serve_mark_descendants(struct serve_process *list, size_t n, pid_t of)
{
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < n; i++) {
			size_t j = 0;

			if (list[i].is_marked || list[i].pid == of)
				continue;
			while (j < n && !(list[j].is_marked && list[j].pid == list[i].parent))
				j++;
			if (j < n || (of && list[i].parent == of))
				list[i].is_marked = again = true;
		}
	}
}

/* Kills all descendants and waits for them; returns how many were alive. One that may not be killed (it changed its user) is left. */
static inline uint32_t serve_kill_all(pid_t self)
{
	uint64_t give_up = 0;
	uint32_t nkilled = 0;

	for (;;) {
		struct serve_process *list;
		size_t n;
		int status;
		pid_t pid;

		while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0)
			nkilled += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		if (pid < 0 && errno == ECHILD)
			return nkilled;
		if (!give_up)
			give_up = serve_now_us() + 2000000;
		else if (serve_now_us() > give_up)
			return nkilled;
		n = serve_processes(&list);
		serve_mark_descendants(list, n, self);
		for (size_t i = 0; i < n; i++)
			if (list[i].is_marked)
				kill(list[i].pid, SIGKILL);
		free(list);
		nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
	}
}

/* ---- limits ---- */

/* How many threads all processes of this user have: RLIMIT_NPROC counts them. */
static inline uint64_t serve_count_threads(void)
{
	struct serve_process *list;
	size_t n = serve_processes(&list);
	uint64_t nthreads = 0;
	struct stat st;
	char path[64];

	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof path, "/proc/%d/task", (int)list[i].pid);
		if (stat(path, &st) == 0 && st.st_uid == getuid())
			nthreads += st.st_nlink - 2;
	}
	free(list);
	return nthreads;
}

static inline uint64_t serve_address_space(void)
{
	char statm[128];

	serve_read("/proc/self/statm", statm, sizeof statm);
	return strtoull(statm, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static inline void serve_limit(__rlimit_resource_t what, uint64_t most)
{
	struct rlimit now;

	if (getrlimit(what, &now) == 0 && now.rlim_max > most)
		setrlimit(what, &(struct rlimit){ most, most });
}

/* ---- a run ---- */

/* In a run's first process: from here on it is alone. */
static inline void serve_enter(const struct serve *s)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != s->pid)
		_exit(127); /* the server died before that */
	close(s->control);
}

static inline void serve_limits(const struct serve *s, const struct run_region *region)
{
	if (region->max_memory_bytes)
		serve_limit(RLIMIT_AS, s->memory_bytes + region->max_memory_bytes);
	if (region->max_file_bytes)
		serve_limit(RLIMIT_FSIZE, region->max_file_bytes);
	if (region->max_processes && s->nthreads)
		serve_limit(RLIMIT_NPROC, s->nthreads + region->max_processes);
}

static inline bool serve_receive(const struct serve *s, struct run_message *m)
{
	ssize_t n;

	do
		n = recv(s->control, m, sizeof *m, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *m;
}

_Noreturn static inline void serve_end(const struct serve *s)
{
	serve_kill_all(s->pid);
	_exit(0);
}

static inline void serve_send(const struct serve *s, const struct run_message *m)
{
	ssize_t n;

	do
		n = send(s->control, m, sizeof *m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof *m)
		serve_end(s);
}

/* Waits until the first process ends, and passes on signals until then. */
static inline void serve_watch(const struct serve *s, pid_t pid)
{
	struct pollfd p[2] = { { .fd = s->control, .events = POLLIN }, { .events = POLLIN } };
	struct run_message m;

	p[1].fd = (int)syscall(SYS_pidfd_open, pid, 0);
	while (!p[1].revents) {
		if (poll(p, 2, p[1].fd < 0 ? 1 : -1) < 0)
			continue;
		if (p[0].revents && !serve_receive(s, &m))
			serve_end(s);
		if (p[0].revents && m.op == RUN_SIGNAL) {
			kill(-pid, m.status);
			kill(pid, m.status); /* it may not have its group yet */
		}
		if (p[1].fd < 0) { /* no pidfd here (seccomp): look every millisecond */
			siginfo_t info = { .si_pid = 0 };

			if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid)
				break;
		}
	}
	if (p[1].fd >= 0)
		close(p[1].fd);
}

/* Returns 0 in a run's first process only. */
static inline pid_t serve_run(struct serve *s)
{
	struct run_message m = { .op = RUN_ENDED, .status = -1 };
	const uint64_t begin = serve_now_us();
	struct rusage usage;
	pid_t pid;

	for (int i = 0; i < 3; i++)
		if (s->stdio_flags[i] >= 0)
			fcntl(i, F_SETFL, s->stdio_flags[i]);
	lseek(0, 0, SEEK_SET);
	pid = s->start(s);
	if (pid == 0)
		return 0;
	if (pid < 0) {
		m.nkilled = (uint32_t)errno;
	} else {
		serve_watch(s, pid);
		m.time_us = serve_now_us() - begin;
		kill(-pid, SIGKILL); /* while the zombie keeps the group's number from being used again */
		while (wait4(pid, &m.status, __WALL, &usage) < 0 && errno == EINTR)
			;
		m.pid = pid;
		m.max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
		m.nkilled = serve_kill_all(s->pid);
	}
	serve_send(s, &m);
	return pid;
}

/* Serves runs until the worker is gone. Returns only in a run's first process. */
static inline void serve_loop(struct serve *s)
{
	struct run_message m = { .op = RUN_HELLO };
	struct stat st;

	s->pid = m.pid = getpid();
	m.status = stat("/proc/self/task", &st) == 0 && st.st_nlink > 3;
	fcntl(s->control, F_SETFD, FD_CLOEXEC);
	serve_limit(RLIMIT_CORE, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, 0); /* the socket tells, and then there is something to do */
	for (int i = 0; i < 3; i++)
		s->stdio_flags[i] = fcntl(i, F_GETFL);
	s->memory_bytes = serve_address_space();
	s->nthreads = getuid() != 0 ? serve_count_threads() : 0;
	serve_send(s, &m);
	while (serve_receive(s, &m))
		if (m.op == RUN_START && serve_run(s) == 0)
			return;
	serve_end(s);
}

#endif
