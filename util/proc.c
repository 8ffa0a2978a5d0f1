/* Running programs. While a child runs, signals are taken synchronously (sigwaitinfo), so there is no handler and no
 * global; the child starts with the mask that we had. */
#include "util/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/alloc.h"

static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -1;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	return access(path, X_OK);
}

char *proc_find(const char *name)
{
	const char *path = getenv("PATH"), *end;
	int why = ENOENT;

	if (strchr(name, '/'))
		return check_executable(name) == 0 ? xstrdup(name) : NULL;
	for (path = path ? path : "/usr/bin:/bin"; *name; path = end + 1) {
		char candidate[4096];

		end = strchrnul(path, ':');
		if (snprintf(candidate, sizeof candidate, "%.*s/%s", end > path ? (int)(end - path) : 1,
			     end > path ? path : ".", name) < (int)sizeof candidate) {
			if (check_executable(candidate) == 0)
				return xstrdup(candidate);
			if (errno == EACCES)
				why = EACCES;
		}
		if (!*end)
			break;
	}
	errno = why;
	return NULL;
}

char **proc_env(char *const envp[], const char *const changes[])
{
	size_t n = 0, nchanges = 0, i, j;
	char **env;

	while (envp[n])
		n++;
	while (changes[nchanges])
		nchanges++;
	env = xmalloc((n + nchanges + 1) * sizeof *env);
	for (i = 0, n = 0; envp[i]; i++) {
		for (j = 0; j < nchanges; j++)
			if (strncmp(envp[i], changes[j], strcspn(changes[j], "=") + 1) == 0)
				break;
		if (j == nchanges)
			env[n++] = envp[i];
	}
	for (j = 0; j < nchanges; j++)
		env[n++] = (char *)changes[j];
	env[n] = NULL;
	return env;
}

_Noreturn static void child_exec(char *const argv[], char *const envp[], const sigset_t *mask, pid_t parent, int pipe_fd)
{
	ssize_t ignored;
	int why;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent) /* it died before the line above */
		_exit(127);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execve(argv[0], argv, envp);
	why = errno;
	ignored = write(pipe_fd, &why, sizeof why);
	(void)ignored;
	_exit(127);
}

static void wait_passing_signals(pid_t pid, const sigset_t *set, int *status)
{
	siginfo_t info;

	while (waitpid(pid, status, WNOHANG) == 0) {
		int signal_number = sigwaitinfo(set, &info);

		/* SI_KERNEL: the terminal, which told the child too. */
		if (signal_number > 0 && signal_number != SIGCHLD && info.si_code != SI_KERNEL)
			kill(pid, signal_number);
	}
}

int proc_run(char *const argv[], char *const envp[], int *status, struct error *err)
{
	static const int passed[] = { SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	sigset_t set, old;
	int pipe_fd[2], why = 0, result = -1;
	pid_t pid, self = getpid();
	size_t i;

	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return error_set(err, "cannot start %s: %s", argv[0], strerror(errno));
	sigemptyset(&set);
	for (i = 0; i < sizeof passed / sizeof passed[0]; i++)
		sigaddset(&set, passed[i]);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGCHLD, SIG_DFL); /* if we inherited SIG_IGN, there would be no status to wait for */
	pid = fork();
	if (pid == 0)
		child_exec(argv, envp, &old, self, pipe_fd[1]);
	close(pipe_fd[1]);
	if (pid < 0) {
		error_set(err, "cannot start %s: %s", argv[0], strerror(errno));
		goto out;
	}
	if (read(pipe_fd[0], &why, sizeof why) == sizeof why) {
		waitpid(pid, status, 0);
		error_set(err, "cannot start %s: %s", argv[0], strerror(why));
		goto out;
	}
	wait_passing_signals(pid, &set, status);
	result = 0;
out:
	close(pipe_fd[0]);
	/* A pending SIGINT has done its work: the child had it. */
	for (struct timespec now = { 0 }; sigtimedwait(&set, NULL, &now) > 0;)
		;
	sigprocmask(SIG_SETMASK, &old, NULL);
	return result;
}

const char *proc_signal_name(int signal_number, char *buf, size_t buf_bytes)
{
	const char *abbreviation = sigabbrev_np(signal_number), *description = sigdescr_np(signal_number);

	if (abbreviation)
		snprintf(buf, buf_bytes, "SIG%s (%s)", abbreviation, description);
	else
		snprintf(buf, buf_bytes, "signal %d", signal_number);
	return buf;
}
