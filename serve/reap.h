/* Ending what a program left behind, wherever it went: another process group, another session, a
 * daemon. One mechanism for all who do that: the server of runs (serve.h), the keeper of a program
 * (keeper.h), and the guardian of a worker's folder (crash/run/guard.c). */
#ifndef SERVE_REAP_H
#define SERVE_REAP_H

#include <stdint.h>
#include <sys/types.h>

/* Whom: either the descendants of `parent`, which is the caller and adopts orphans
 * (PR_SET_CHILD_SUBREAPER), or everybody who has `mark`, a variable with its value, in the
 * environment, and their descendants. */
struct reap {
	pid_t parent;
	const char *mark;  /* NULL: descendants of parent */
	uint32_t grace_ms; /* so long they may end by themselves */
};

/* Kills them until there are none, and buries the caller's children; how many were killed. Gives up
 * after two seconds: one that may not be killed (it changed its user) is left. */
uint32_t reap(const struct reap *whom);

uint64_t reap_now_us(void); /* a clock that only goes forward */

#endif
