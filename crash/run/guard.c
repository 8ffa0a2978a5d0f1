/* The guardian: a process that waits until the worker closes a pipe or dies, of whatever, then kills every process that belongs to the
 * runner's folder and removes the folder. Servers end by themselves when the worker does; this is for what they cannot do. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"
#include "serve/reap.h"

void guard_kill(const char *folder, uint32_t grace_ms)
{
	char *mark = xasprintf("%s=%s/region", RUN_ENV_REGION, folder);

	reap(&(struct reap){ .mark = mark, .grace_ms = grace_ms });
	free(mark);
}

_Noreturn static void guard_main(const char *folder, int fd)
{
	int null;
	char c;

	setsid();
	prctl(PR_SET_NAME, "pmend-guardian");
	for (int i = 1; i < 32; i++) /* those for the terminal's group are not for us */
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
	if (chdir("/") < 0)
		_exit(1);
	while (read(3, &c, 1) < 0 && errno == EINTR)
		;
	guard_kill(folder, 300);
	tree_remove(folder);
	_exit(0);
}

pid_t guard_start(const char *folder, int *alive, struct error *err)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_set(err, "pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(fds[1]);
		guard_main(folder, fds[0]);
	}
	close(fds[0]);
	if (pid < 0) {
		close(fds[1]);
		return error_set(err, "fork: %s", strerror(errno));
	}
	*alive = fds[1];
	return pid;
}
