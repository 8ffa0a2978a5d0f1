/* Inside libpmend_rt.so. It lives in somebody else's process: it handles failing allocations, calls nothing of libc that could come back
 * to it from a signal handler, and has few globals.
 *
 *   server.c    before main: the fork server; a run's first process: limits, output, process group
 *   attach.c    joins a process to a run: region, images, system call dispatch, signal handlers
 *   the rest    what recovery sees: paths, mappings, undecided lines */
#ifndef RUNTIME_RT_H
#define RUNTIME_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmend_run.h"

extern struct run_region *g_region; /* NULL: not part of a run */

/* Maps the region that the environment names; -1 if there is none or it is none of ours. */
int rt_map_region(void);

/* Called in the first process of a run just before main(), and by the constructor in a process that a run exec'd. From here on
 * paths of PM files lead to images, mappings go to recorded addresses, and (RUN_LAZY) undecided lines are decided as they are read. */
void rt_attach(void);

/* Laziness cannot be kept up: notes why and ends the whole process group; the run will be repeated on whole images. */
_Noreturn void rt_unsound(const char *why);

/* A system call that our own dispatch lets through; returns -errno. */
long rt_syscall(long number, long a, long b, long c, long d, long e, long f);

#endif
