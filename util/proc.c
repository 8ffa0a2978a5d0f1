/* Runs programs and waits for them. While a child runs, signals are blocked and taken with
 * sigtimedwait(), so no handler and no global variable is needed. */
#include "util/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/clock.h"
#include "util/sysroot.h"

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

/* Gives the path, with the sysroot added, if it names an executable file; else NULL with errno.
 * free() it. */
static char *find_at(const char *path)
{
	char *place = sysroot_path(path);
	int why;

	if (check_executable(place) == 0)
		return place;
	why = errno;
	free(place);
	errno = why;
	return NULL;
}

char *proc_find(const char *name)
{
	const char *path = getenv("PATH"), *end;
	int why = ENOENT;
	char *found;

	if (strchr(name, '/'))
		return find_at(name);
	for (path = path ? path : "/usr/bin:/bin"; *name; path = end + 1) {
		char candidate[4096];

		end = strchrnul(path, ':');
		if (snprintf(candidate, sizeof candidate, "%.*s/%s",
			     end > path ? (int)(end - path) : 1, end > path ? path : ".",
			     name) < (int)sizeof candidate) {
			if ((found = find_at(candidate)))
				return found;
			if (errno == EACCES)
				why = EACCES;
		}
		if (!*end)
			break;
	}
	errno = why;
	return NULL;
}

int proc_refused(int why, struct error *err)
{
	return error_set(err, "cannot start another process: %s%s", strerror(why),
			 why == EAGAIN ? "; raise 'ulimit -u'" : "");
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

_Noreturn static void child_exec(char *const argv[], char *const envp[], const sigset_t *mask,
				 pid_t parent, int pipe_fd, const struct proc_watch *watch)
{
	ssize_t ignored;
	int why;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent) /* the parent died before prctl() */
		_exit(127);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (watch && watch->in_child)
		watch->in_child(watch->arg);
	execve(argv[0], argv, envp);
	why = errno;
	ignored = write(pipe_fd, &why, sizeof why);
	(void)ignored;
	_exit(127);
}

enum { CHILDREN_MAX = 256, TICK_MS = 500, STEER_MS = 10, LEFT_TICKS = 2, GRACE_S = 5 };

/* How run_and_wait() waits, and for which processes. */
struct wait {
	pid_t pid;
	sigset_t set; /* signals that are taken instead of handled */
	bool is_for_all;
	const struct proc_watch *watch; /* may be NULL */
	pid_t before[CHILDREN_MAX];     /* children that pmend had before the program started */
	size_t nbefore;
	double end_s;  /* when to end what still runs, by clock_s(); 0: never */
	double tick_s; /* when the next tick is */
};

static size_t children_read(pid_t *pids, size_t max)
{
	FILE *f = fopen("/proc/thread-self/children", "re");
	size_t n = 0;
	int pid;

	while (f && n < max && fscanf(f, "%d", &pid) == 1)
		pids[n++] = pid;
	if (f)
		fclose(f);
	return n;
}

static const struct proc_steer *steer_of(const struct wait *w)
{
	return w->watch ? w->watch->steer : NULL;
}

static bool is_own(const struct wait *w, pid_t pid)
{
	const struct proc_steer *s = steer_of(w);

	return s && s->is_own(pid, s->arg);
}

/* Lists the processes that the program left running. As a subreaper, pmend has become their
 * parent. */
static size_t left_find(const struct wait *w, pid_t left[CHILDREN_MAX])
{
	pid_t now[CHILDREN_MAX];
	size_t n = children_read(now, CHILDREN_MAX), nleft = 0, k;

	for (size_t i = 0; i < n; i++) {
		for (k = 0; k < w->nbefore && w->before[k] != now[i]; k++)
			;
		if (k == w->nbefore && now[i] != w->pid && !is_own(w, now[i]))
			left[nleft++] = now[i];
	}
	return nleft;
}

static void left_tell(const struct wait *w)
{
	pid_t left[CHILDREN_MAX];
	size_t n = left_find(w, left);

	if (n)
		w->watch->on_left(left, n, w->watch->arg);
}

static void left_signal(const struct wait *w, int signal_number)
{
	pid_t left[CHILDREN_MAX];
	size_t n = left_find(w, left);

	for (size_t i = 0; i < n; i++)
		kill(left[i], signal_number);
}

static void cut(const struct wait *w)
{
	const struct proc_steer *s = steer_of(w);

	if (s)
		s->on_cut(s->arg);
}

/* Calls step() of struct proc_steer, and sends the signal that step() gives: to the program or,
 * after its end, to what the program left running. True: nobody steers the program, or all its
 * processes have ended. */
static bool steer(const struct wait *w, bool is_over)
{
	const struct proc_steer *s = steer_of(w);
	pid_t left[CHILDREN_MAX];
	const bool is_gone = s && is_over && left_find(w, left) == 0;
	int signal_number;

	if (!s)
		return true;
	signal_number = s->step(is_over, is_gone, s->arg);
	if (signal_number && is_over)
		left_signal(w, signal_number);
	else if (signal_number)
		kill(w->pid, signal_number);
	return is_gone;
}

/* Called when the time limit is over: signals the program, or after its end what it left running.
 * The first signal is SIGTERM; five seconds later SIGKILL follows. told[0] counts the calls before
 * the program's end, told[1] those after it. */
static void end_in_time(struct wait *w, bool is_over, int *told)
{
	const int nth = ++told[is_over], signal_number = nth > 1 ? SIGKILL : SIGTERM;

	cut(w);
	if (is_over)
		left_signal(w, signal_number);
	else
		kill(w->pid, signal_number);
	w->end_s = clock_s() + GRACE_S;
}

/* Waits for the program and passes signals on to it. Processes that the program left running get a
 * second to end before on_left() is told about them. */
static void wait_passing_signals(struct wait *w, int *status)
{
	const struct timespec tick = { .tv_nsec = (steer_of(w) ? STEER_MS : TICK_MS) * 1000000L };
	bool is_over = false;
	int told_to_end = 0, nticks = 0; /* since the program ended */
	/* how often the program was told to end, and what it left running */
	int ended[2] = { 0 };

	for (;;) {
		siginfo_t info;
		int signal_number, s;
		bool is_told = steer(w, is_over);
		pid_t pid;

		while ((pid = waitpid(w->is_for_all || (is_over && w->watch) ? -1 : w->pid, &s,
				      WNOHANG)) > 0)
			if (pid == w->pid) {
				*status = s;
				is_over = true;
			} else if (is_own(w, pid)) {
				steer_of(w)->on_own_end(pid, s, steer_of(w)->arg);
				is_told = false;
			}
		/* no child is left, or none that must be waited for */
		if (is_over && is_told && (pid < 0 || (!w->is_for_all && nticks >= LEFT_TICKS))) {
			*status |=
				told_to_end |
				(ended[0] || (ended[1] && *status == 0) ? PROC_TIME_WAS_OVER : 0);
			return;
		}
		if (w->end_s && clock_s() >= w->end_s)
			end_in_time(w, is_over, ended);
		signal_number = sigtimedwait(&w->set, &info, w->watch ? &tick : NULL);
		if (signal_number == SIGTERM || signal_number == SIGHUP)
			told_to_end = PROC_TOLD_TO_END;
		if (signal_number > 0 && signal_number != SIGCHLD)
			cut(w);
		if (signal_number < 0 && errno == EAGAIN) {
			if (clock_s() < w->tick_s)
				continue;
			w->tick_s = clock_s() + TICK_MS / 1e3;
			w->watch->on_tick(w->watch->arg);
			nticks += is_over;
			if (nticks == LEFT_TICKS && !steer_of(w))
				left_tell(w);
		} else if (signal_number > 0 && signal_number != SIGCHLD && is_over) {
			left_signal(w, signal_number);
		} else if (signal_number > 0 && signal_number != SIGCHLD &&
			   info.si_code != SI_KERNEL) {
			/* SI_KERNEL is Ctrl-C at the terminal, which reached the child, too */
			kill(w->pid, signal_number);
		}
	}
}

static int run_and_wait(char *const argv[], char *const envp[], struct wait *w, int *status,
			struct error *err)
{
	static const int passed[] = { SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	int pipe_fd[2], why = 0, result = -1;
	pid_t self = getpid();
	sigset_t old;
	size_t i;

	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return error_set(err, "cannot start %s: %s", argv[0], strerror(errno));
	sigemptyset(&w->set);
	for (i = 0; i < sizeof passed / sizeof passed[0]; i++)
		sigaddset(&w->set, passed[i]);
	sigprocmask(SIG_BLOCK, &w->set, &old);
	/* an inherited SIG_IGN would reap children before waitpid() could */
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_CHILD_SUBREAPER, w->watch != NULL);
	w->nbefore = children_read(w->before, CHILDREN_MAX);
	w->end_s = w->watch && w->watch->max_seconds ? clock_s() + w->watch->max_seconds : 0;
	w->pid = fork();
	if (w->pid == 0)
		child_exec(argv, envp, &old, self, pipe_fd[1], w->watch);
	close(pipe_fd[1]);
	if (w->pid < 0) {
		error_set(err, "cannot start %s: %s", argv[0], strerror(errno));
		goto out;
	}
	if (read(pipe_fd[0], &why, sizeof why) == sizeof why) {
		waitpid(w->pid, status, 0);
		error_set(err, "cannot start %s: %s", argv[0], strerror(why));
		goto out;
	}
	wait_passing_signals(w, status);
	result = 0;
out:
	close(pipe_fd[0]);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	/* Drop pending signals, such as the SIGINT that also ended the child. */
	for (struct timespec now = { 0 }; sigtimedwait(&w->set, NULL, &now) > 0;)
		;
	sigprocmask(SIG_SETMASK, &old, NULL);
	return result;
}

int proc_run(char *const argv[], char *const envp[], int *status, struct error *err)
{
	struct wait w = { 0 };

	return run_and_wait(argv, envp, &w, status, err);
}

int proc_run_watched(char *const argv[], char *const envp[], bool is_for_all,
		     const struct proc_watch *watch, int *status, struct error *err)
{
	struct wait w = { .is_for_all = is_for_all || watch->steer, .watch = watch };

	return run_and_wait(argv, envp, &w, status, err);
}

bool proc_can_trace(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 && errno == EPERM);
	return pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	       WEXITSTATUS(status) == 0;
}

const char *proc_signal_name(int signal_number, char *buf, size_t buf_bytes)
{
	const char *abbreviation = sigabbrev_np(signal_number),
		   *description = sigdescr_np(signal_number);

	if (abbreviation)
		snprintf(buf, buf_bytes, "SIG%s (%s)", abbreviation, description);
	else
		snprintf(buf, buf_bytes, "signal %d", signal_number);
	return buf;
}
