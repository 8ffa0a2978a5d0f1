/* The serving side of the run protocol (pmend_run.h), shared by two servers: runtime/ forks a
 * program that is ready to run, crash/ executes one into which nothing can be preloaded. A server
 * adopts orphans among its descendants, so after a run it finds and kills everything that the run
 * left, even in another process group or session. It ends when its worker ends. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <stdint.h>
#include <sys/types.h>

#include "pmend_run.h"

struct serve {
	int control;
	pid_t pid; /* of the server */
	/* Starts a run's first process, which calls serve_enter(). Returns 0 in that process if it
	 * forks; -errno if it could not start. */
	pid_t (*start)(struct serve *s);
	void *arg;
	/* flags of standard input, output and error, which runs inherit and may change */
	long stdio_flags[3];
	uint64_t memory_bytes; /* writable private memory before a run */
	/* threads of this user before a run; 0 for root, who has no such limit */
	uint64_t nthreads;
};

/* Serves runs until the worker is gone. Returns only in a run's first process. */
void serve_loop(struct serve *s);

/* Called in a run's first process: separates it from the server. */
void serve_enter(const struct serve *s);
/* Sets the limits on processes, memory and files that the region names. */
void serve_limits(const struct serve *s, const struct run_region *region);

#endif
