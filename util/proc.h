/* Runs programs by argv, never through a shell. */
#ifndef UTIL_PROC_H
#define UTIL_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

/* Finds an executable file: at `name` if that contains a slash, else in the folders of $PATH. Gives
 * its path; free() it. NULL with errno if there is none (EACCES: found, but not executable). */
char *proc_find(const char *name);

/* Runs argv[0] (a path) in the foreground with the given environment, and waits for it. Signals of
 * the terminal reach it directly; SIGINT, SIGQUIT, SIGTERM and SIGHUP that others send to pmend are
 * passed on. It gets SIGTERM when pmend dies. Fills the wait status; -1 if it could not be
 * started. */
int proc_run(char *const argv[], char *const envp[], int *status, struct error *err);

/* Functions that decide when the program ends, such as those of a recipe for a server. With them,
 * pmend also waits for all processes that the program leaves running. */
struct proc_steer {
	/* Called every few milliseconds. Gives the signal that the program gets now; 0: none.
	 * is_over: the program's first process has ended; is_gone: all its processes have ended. */
	int (*step)(bool is_over, bool is_gone, void *arg);
	/* Called when the program is ended for another reason: the time is over, or pmend was told
	 * to end. */
	void (*on_cut)(void *arg);
	/* Children of ours that are not the program's. */
	bool (*is_own)(pid_t pid, void *arg);
	void (*on_own_end)(pid_t pid, int wait_status, void *arg);
	void *arg;
};

/* Functions that proc_run_watched() calls while the program runs. */
struct proc_watch {
	void (*on_tick)(void *arg); /* twice a second */
	/* Called once, if processes that the program started still run a second after its end. */
	void (*on_left)(const pid_t *pids, size_t n, void *arg);
	void *arg;
	void (*in_child)(void *arg);    /* in the process that becomes the program; NULL: nothing */
	const struct proc_steer *steer; /* NULL: the program ends by itself */
	/* After this time the program gets SIGTERM, and five seconds later SIGKILL; 0: no limit. */
	uint32_t max_seconds;
};

/* Like proc_run(), but calls the functions of watch. is_for_all: also waits for every process that
 * the program leaves running, such as a daemon. */
int proc_run_watched(char *const argv[], char *const envp[], bool is_for_all,
		     const struct proc_watch *watch, int *status, struct error *err);

/* This bit is set in the wait status if pmend got SIGTERM or SIGHUP meanwhile. The other bits are
 * the program's. */
#define PROC_TOLD_TO_END (1 << 30)
/* This bit is set in the wait status if max_seconds ended the program, or ended what it left
 * running after it succeeded. A program that had failed before keeps its own status. */
#define PROC_TIME_WAS_OVER (1 << 29)

/* Fills err with a message that no process could be started, for the reason `why` (an errno), and
 * what the user can do about it. Returns -1. */
int proc_refused(int why, struct error *err);

/* Copies the environment with some variables set; each change is "NAME=value". The copy is one
 * block to free(); it borrows the strings. */
char **proc_env(char *const envp[], const char *const changes[]);

/* Asks whether this machine allows ptrace(), which gdb needs. A child process tries it. */
bool proc_can_trace(void);

/* Writes "SIGSEGV (Segmentation fault)" to buf and returns buf. */
const char *proc_signal_name(int signal_number, char *buf, size_t buf_bytes);

#endif
