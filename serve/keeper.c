/* The keeper: a process between pmend and a program that pmend runs. It adopts processes that the
 * program leaves behind, and ends with the program's status. Signals control it: it passes SIGTERM
 * on, and SIGUSR1 makes it end everything. */
#include "serve/keeper.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve/reap.h"

static void signals_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGUSR1);
	sigaddset(set, SIGCHLD);
}

/* Is the program over? It is then still a zombie, so its number is not reused. Reaps other children
 * that have ended. */
static bool is_over(pid_t program)
{
	siginfo_t info = { .si_pid = 0 };

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
			return false;
		if (info.si_pid == program)
			return true;
		waitpid(info.si_pid, NULL, 0);
	}
}

_Noreturn static void end_as(int wait_status)
{
	struct rlimit none = { 0, 0 };
	sigset_t all;

	if (WIFSIGNALED(wait_status)) {
		setrlimit(RLIMIT_CORE, &none);
		signal(WTERMSIG(wait_status), SIG_DFL);
		sigemptyset(&all);
		sigprocmask(SIG_SETMASK, &all, NULL);
		raise(WTERMSIG(wait_status));
	}
	_exit(WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 127);
}

_Noreturn static void wait_for_program(pid_t program)
{
	int wait_status = 0, what;
	sigset_t set;

	signals_set(&set);
	while (!is_over(program)) {
		if (sigwait(&set, &what) != 0)
			continue;
		if (what == SIGTERM)
			kill(-program, SIGTERM);
		else if (what == SIGUSR1)
			kill(-program, SIGKILL);
	}
	kill(-program, SIGKILL);
	waitpid(program, &wait_status, 0);
	reap(&(struct reap){ .parent = getpid() });
	end_as(wait_status);
}

pid_t keeper_start(void (*run)(const void *arg), const void *arg)
{
	pid_t parent = getpid(), keeper = fork(), program;
	sigset_t set;

	if (keeper != 0)
		return keeper;
	setpgid(0, 0);
	signals_set(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	if (getppid() != parent)
		_exit(127); /* pmend is already gone */
	program = fork();
	if (program < 0)
		_exit(127);
	if (program == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(arg);
		_exit(127);
	}
	setpgid(program, program); /* parent and child both do this, whichever comes first */
	wait_for_program(program);
}

void keeper_ask(pid_t keeper)
{
	kill(keeper, SIGTERM);
}

int keeper_end(pid_t keeper)
{
	int wait_status = 0;

	kill(keeper, SIGUSR1);
	while (waitpid(keeper, &wait_status, 0) < 0 && errno == EINTR)
		;
	return wait_status;
}
