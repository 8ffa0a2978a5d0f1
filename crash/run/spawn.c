/* Starts the processes that serve runs. A server has its own session, standard input from a file,
 * output into our pipes, and of our descriptors only its control socket. It dies when we die: by a
 * signal until it serves, then because its socket ends. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"
#include "serve/serve.h"
#include "util/proc.h"
#include "util/sysroot.h"

#define CONTROL_FD 3
#define CONTROL_FD_TEXT "3"

char **spawn_env(const struct runner *r, const char *program, enum program_mode mode, bool can_bind,
		 char **libraries)
{
	const bool binds = can_bind && !getenv("LD_BIND_NOW");
	const char *changes[8];
	size_t n = 0;

	changes[n++] = r->region_env;
	changes[n++] = r->tunables;
	if (!r->o.never_force_pmem)
		changes[n++] = "PMEM_IS_PMEM_FORCE=1";
	if (mode != PROGRAM_PLAIN)
		changes[n++] = r->preload;
	if (mode == PROGRAM_FORK) {
		changes[n++] = binds ? RUN_ENV_SERVER "=" CONTROL_FD_TEXT "b"
				     : RUN_ENV_SERVER "=" CONTROL_FD_TEXT;
		if (binds)
			changes[n++] = "LD_BIND_NOW=1"; /* binds once, instead of in each run */
	}
	*libraries = sysroot_libraries(program);
	if (*libraries)
		changes[n++] = *libraries;
	changes[n] = NULL;
	return proc_env(environ, changes);
}

/* Closes all descriptors except standard input, output, error, and the control socket, which an
 * executed program inherits. */
static bool set_descriptors(const struct spawn *s)
{
	int in = open(s->input ? s->input : "/dev/null", O_RDONLY);
	int fds[4] = { in, s->out, s->err, s->control };

	if (in < 0)
		return false;
	for (int i = 0; i < 4; i++) /* so that the final numbers are free */
		if ((fds[i] = fcntl(fds[i], F_DUPFD, 10)) < 0)
			return false;
	for (int i = 0; i < 4; i++)
		if (dup2(fds[i], i) < 0)
			return false;
	return syscall(SYS_close_range, CONTROL_FD + 1u, ~0u, 0u) == 0;
}

static void set_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Executes the program, in a server that is a process of pmend. */
static pid_t exec_start(struct serve *server)
{
	const struct spawn *s = server->arg;
	struct serve limits = *server;
	volatile int failure = 0;
	pid_t pid;

	limits.memory_bytes = 0; /* the server's own memory is not part of the run */
	pid = vfork();           /* fork() would copy our page tables, which may be large */
	if (pid == 0) {
		serve_enter(server);
		serve_limits(&limits, s->region);
		execve(s->path, s->argv, s->envp);
		failure = errno;
		_exit(127);
	}
	if (pid > 0 && !failure)
		return pid;
	if (pid < 0)
		return -errno;
	waitpid(pid, NULL, 0);
	return -failure;
}

pid_t spawn_server(const struct spawn *s)
{
	struct serve server = { .control = CONTROL_FD, .start = exec_start, .arg = (void *)s };
	const pid_t self = getpid();
	/* vfork() is enough if the process executes another program */
	const pid_t pid = s->mode == PROGRAM_FORK ? vfork() : fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != self)
		_exit(127);
	setsid();
	set_signals();
	if (!set_descriptors(s)) {
		dprintf(s->err, "%s: %s\n", s->input ? s->input : "descriptors", strerror(errno));
		_exit(127);
	}
	/* makes runs repeatable; where this is forbidden, they nearly are */
	personality(ADDR_NO_RANDOMIZE);
	if (s->mode == PROGRAM_FORK) {
		execve(s->path, s->argv, s->envp);
		dprintf(2, "%s: %s\n", s->path, strerror(errno));
		_exit(127);
	}
	serve_loop(&server);
	_exit(127);
}
