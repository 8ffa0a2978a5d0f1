/* Serves runs: waits for requests on the control socket, starts a run, watches it, ends what it
 * left behind, and reports. All state is in struct serve, and no function of the C library is
 * called. */
#include "serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "serve/call.h"
#include "serve/processes.h"
#include "serve/reap.h"

/* ---- limits ---- */

static void set_limit(int what, uint64_t most)
{
	struct {
		uint64_t now, max;
	} is, new = { most, most };

	if (SERVE_CALL4(SYS_prlimit64, 0, what, NULL, &is) == 0 && is.max > most)
		SERVE_CALL4(SYS_prlimit64, 0, what, &new, NULL);
}

void serve_limits(const struct serve *s, const struct run_region *region)
{
	if (region->max_memory_bytes)
		set_limit(RLIMIT_DATA, s->memory_bytes + region->max_memory_bytes);
	if (region->max_file_bytes)
		set_limit(RLIMIT_FSIZE, region->max_file_bytes);
	if (region->max_processes && s->nthreads)
		set_limit(RLIMIT_NPROC, s->nthreads + region->max_processes);
}

/* ---- messages ---- */

_Noreturn static void end_server(const struct serve *s, int status)
{
	reap(&(struct reap){ .parent = s->pid });
	for (;;)
		SERVE_CALL1(SYS_exit_group, status);
}

static bool receive(const struct serve *s, struct run_message *m)
{
	long n;

	do
		n = SERVE_CALL6(SYS_recvfrom, s->control, m, sizeof *m, 0, NULL, NULL);
	while (n == -EINTR);
	return n == (long)sizeof *m;
}

static void send_message(const struct serve *s, const struct run_message *m)
{
	long n;

	do
		n = SERVE_CALL6(SYS_sendto, s->control, m, sizeof *m, MSG_NOSIGNAL, NULL, 0);
	while (n == -EINTR);
	if (n != (long)sizeof *m)
		end_server(s, 0);
}

/* ---- a run ---- */

void serve_enter(const struct serve *s)
{
	SERVE_CALL2(SYS_setpgid, 0, 0);
	SERVE_CALL2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	if (SERVE_CALL0(SYS_getppid) != s->pid)
		SERVE_CALL1(SYS_exit_group, 127); /* the server died before prctl() */
	SERVE_CALL1(SYS_close, s->control);
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return SERVE_CALL5(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT, NULL) == 0 &&
	       info.si_pid == pid;
}

/* Waits for the end of the first process and passes on signals until then. */
static void wait_for_run(const struct serve *s, pid_t pid)
{
	struct pollfd p[2] = { { .fd = s->control, .events = POLLIN }, { .events = POLLIN } };
	const struct timespec millisecond = { .tv_nsec = 1000000 };
	struct run_message m;

	p[1].fd = (int)SERVE_CALL2(SYS_pidfd_open, pid, 0);
	while (!p[1].revents) {
		/* the kernel overwrites it with the time that is left */
		struct timespec wait = millisecond;

		if (SERVE_CALL5(SYS_ppoll, p, 2, p[1].fd < 0 ? &wait : NULL, NULL, 8) < 0)
			continue;
		if (p[0].revents && !receive(s, &m))
			end_server(s, 0);
		if (p[0].revents && m.op == RUN_SIGNAL) {
			SERVE_CALL2(SYS_kill, -pid, m.status);
			SERVE_CALL2(SYS_kill, pid, m.status); /* it may not have its group yet */
		}
		/* no pidfd (a seccomp filter refuses it): look every millisecond */
		if (p[1].fd < 0 && has_ended(pid))
			break;
	}
	if (p[1].fd >= 0)
		SERVE_CALL1(SYS_close, p[1].fd);
}

/* Starts a run and waits for its end. Returns twice, like fork(): 0 in the run's first process, and
 * later another number in the server. */
static pid_t serve_run(struct serve *s)
{
	struct run_message m = { .op = RUN_ENDED, .status = -1 };
	const uint64_t begin = reap_now_us();
	struct rusage usage = { .ru_maxrss = 0 };
	pid_t pid;

	for (int i = 0; i < 3; i++)
		if (s->stdio_flags[i] >= 0)
			SERVE_CALL3(SYS_fcntl, i, F_SETFL, s->stdio_flags[i]);
	SERVE_CALL3(SYS_lseek, 0, 0, SEEK_SET);
	pid = s->start(s);
	if (pid == 0)
		return 0;
	if (pid < 0) {
		m.nkilled = (uint32_t)-pid;
	} else {
		wait_for_run(s, pid);
		m.time_us = reap_now_us() - begin;
		/* while the zombie keeps its number from being reused */
		SERVE_CALL2(SYS_kill, -pid, SIGKILL);
		while (SERVE_CALL4(SYS_wait4, pid, &m.status, __WALL, &usage) == -EINTR)
			;
		m.pid = pid;
		m.max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
		m.nkilled = reap(&(struct reap){ .parent = s->pid });
	}
	send_message(s, &m);
	return pid;
}

void serve_loop(struct serve *s)
{
	struct run_message m = { .op = RUN_HELLO };
	const uid_t uid = (uid_t)SERVE_CALL0(SYS_getuid);

	s->pid = m.pid = (pid_t)SERVE_CALL0(SYS_getpid);
	m.status = process_count_folders("/proc/self/task", NULL) > 1;
	SERVE_CALL3(SYS_fcntl, s->control, F_SETFD, FD_CLOEXEC);
	set_limit(RLIMIT_CORE, 0);
	SERVE_CALL2(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
	/* the server learns of the worker's end from the socket, and must then clean up */
	SERVE_CALL2(SYS_prctl, PR_SET_PDEATHSIG, 0);
	for (int i = 0; i < 3; i++)
		s->stdio_flags[i] = SERVE_CALL2(SYS_fcntl, i, F_GETFL);
	s->memory_bytes = process_status_bytes(0, "VmData:");
	s->nthreads = uid != 0 ? processes_count_threads(uid) : 0;
	send_message(s, &m);
	while (receive(s, &m))
		if (m.op == RUN_START && serve_run(s) == 0)
			return;
	end_server(s, 0);
}
