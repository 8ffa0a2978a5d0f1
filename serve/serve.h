/* The serving side of the run protocol (pmend_run.h), shared by the two servers there are: runtime/
 * forks a program that is ready to run, crash/ executes one that cannot be preloaded. A server
 * adopts the orphans among its descendants, so after a run it finds and kills everything that the
 * run left, also what left its process group or session. It ends when its worker does. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <stdint.h>
#include <sys/types.h>

#include "pmend_run.h"

struct serve {
	int control;
	pid_t pid; /* of the server */
	/* Starts a run's first process, which calls serve_enter(). May return 0 there; -errno: it
	 * could not. */
	pid_t (*start)(struct serve *s);
	void *arg;
	/* of standard input, output, error, which runs inherit and may change */
	long stdio_flags[3];
	uint64_t memory_bytes; /* private memory that may be written, before a run */
	/* of this user before a run; 0: it is root, for whom there is no such limit */
	uint64_t nthreads;
};

/* Serves runs until the worker is gone. Returns only in a run's first process. */
void serve_loop(struct serve *s);

/* In a run's first process: from here on it is alone. */
void serve_enter(const struct serve *s);
/* ... and has the limits that the region names. */
void serve_limits(const struct serve *s, const struct run_region *region);

#endif
