/* Running programs: always by argv, never through a shell. */
#ifndef UTIL_PROC_H
#define UTIL_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

/* Path of an executable file: as given if it holds a slash, else searched in $PATH. NULL with errno
 * if there is none (EACCES: found, but not executable). The caller frees it. */
char *proc_find(const char *name);

/* Runs argv[0] (a path) with the given environment in the foreground and waits for it. What the
 * terminal sends, it gets from the terminal; other SIGINT, SIGQUIT, SIGTERM and SIGHUP that reach
 * us are passed on. It is ended when we die. Fills the wait status; -1 if it could not be
 * started. */
int proc_run(char *const argv[], char *const envp[], int *status, struct error *err);

/* Whom a run tells what goes on. */
struct proc_watch {
	void (*on_tick)(void *arg); /* twice a second */
	/* Processes that the program started still run a second after it ended. Told once. */
	void (*on_left)(const pid_t *pids, size_t n, void *arg);
	void *arg;
	/* After this time all is ended: by SIGTERM, and by SIGKILL if that does not help. 0: it may
	 * take any time. */
	uint32_t max_seconds;
};

/* As proc_run(). is_for_all: waits for every process that the program leaves running, too, wherever
 * that went (a daemon). */
int proc_run_watched(char *const argv[], char *const envp[], bool is_for_all,
		     const struct proc_watch *watch, int *status, struct error *err);

/* The wait status of a program that proc_run() or proc_run_watched() ran, after we were told to end
 * by SIGTERM or SIGHUP, has this bit; the others are as ever. */
#define PROC_TOLD_TO_END (1 << 30)
/* The same if its max_seconds were over. If it had failed before, and only what it left was ended,
 * the status says that. */
#define PROC_TIME_WAS_OVER (1 << 29)

/* Another process could not be started, for this reason (errno): says so, and what to do. -1. */
int proc_refused(int why, struct error *err);

/* A copy of the environment with some variables set; each change is "NAME=value". Free with free():
 * one block, which borrows the strings. */
char **proc_env(char *const envp[], const char *const changes[]);

/* May a program be traced here, as gdb does it? A child tries. */
bool proc_can_trace(void);

/* "SIGSEGV (Segmentation fault)", in buf. */
const char *proc_signal_name(int signal_number, char *buf, size_t buf_bytes);

#endif
