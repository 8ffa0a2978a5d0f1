/* Ends what a program left behind, even in another process group or session. It serves the server
 * of runs (serve.h), the keeper of a program (keeper.h), and the guardian of a worker's folder
 * (crash/run/guard.c). */
#ifndef SERVE_REAP_H
#define SERVE_REAP_H

#include <stdint.h>
#include <sys/types.h>

/* Which processes: either the descendants of `parent`, which is the caller and adopts orphans
 * (PR_SET_CHILD_SUBREAPER); or all that have the variable `mark` (NAME=value) in their environment,
 * and their descendants. */
struct reap {
	pid_t parent;
	const char *mark;  /* NULL: the descendants of parent */
	uint32_t grace_ms; /* so long they may end by themselves */
};

/* Kills the processes until there are none, and reaps the caller's children. Gives how many were
 * killed. Gives up after two seconds, because a process that changed its user cannot be killed. */
uint32_t reap(const struct reap *whom);

uint64_t reap_now_us(void); /* a clock that never goes back */

#endif
