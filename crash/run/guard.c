/* The guardian: a process that waits until the worker closes a pipe or dies for any reason. Then it
 * kills every process that belongs to the runner's folder, and removes the folder. Servers end by
 * themselves when the worker ends; the guardian handles all other processes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"
#include "serve/reap.h"
#include "util/proc.h"

void guard_kill(const char *folder, uint32_t grace_ms)
{
	/* no allocation, because the guardian must work when memory is exhausted */
	char mark[PATH_MAX + 64];

	snprintf(mark, sizeof mark, "%s=%s/region", RUN_ENV_REGION, folder);
	reap(&(struct reap){ .mark = mark, .grace_ms = grace_ms });
}

/* Runs the guardian. It makes the folder itself, so that nobody can kill pmend between making the
 * folder and guarding it. */
_Noreturn static void guard_main(char *folder, int fd, int reply)
{
	ssize_t ignored;
	int null, why;
	char c;

	setsid();
	prctl(PR_SET_NAME, "pmend-guardian");
	/* signals of the terminal's process group are not meant for the guardian */
	for (int i = 1; i < 32; i++)
		if (i != SIGCHLD)
			signal(i, SIG_IGN);
	why = mkdtemp(folder) ? 0 : errno;
	/* if the worker is gone or does not read this, it closes the pipe below */
	if (write(reply, &why, sizeof why) == sizeof why && why == 0)
		ignored = write(reply, folder, strlen(folder));
	(void)ignored;
	if (why)
		_exit(1);
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

/* Waits for the guardian's reply about the folder. 0: the folder exists. */
static int guard_reply(int fd, char *folder)
{
	size_t len_bytes = strlen(folder), got = 0;
	int why;

	if (read(fd, &why, sizeof why) != sizeof why)
		return EIO;
	while (why == 0 && got < len_bytes) {
		ssize_t n = read(fd, folder + got, len_bytes - got);

		if (n <= 0)
			return EIO;
		got += (size_t)n;
	}
	return why;
}

pid_t guard_start(char *folder, int *alive, struct error *err)
{
	int fds[2], reply[2], why;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_set(err, "pipe: %s", strerror(errno));
	if (pipe2(reply, O_CLOEXEC) < 0) {
		close(fds[0]);
		close(fds[1]);
		return error_set(err, "pipe: %s", strerror(errno));
	}
	pid = fork();
	if (pid == 0) {
		close(fds[1]);
		guard_main(folder, fds[0], reply[1]);
	}
	close(fds[0]);
	close(reply[1]);
	why = pid < 0 ? errno : guard_reply(reply[0], folder);
	close(reply[0]);
	if (why) {
		close(fds[1]);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		return pid < 0 ? proc_refused(why, err)
			       : error_set(err, "cannot make a folder in memory: %s",
					   strerror(why));
	}
	*alive = fds[1];
	return pid;
}
