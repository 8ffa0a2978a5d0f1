/* Runs a program that may hang, crash, write without end, or leave processes behind (they are ended
 * with it, serve/keeper.h). It has no terminal. Several may run at a time:
 *
 *	bounded_run_start(&r, &c, &err);
 *	while (!bounded_run_step(&r))
 *		bounded_run_wait();
 */
#ifndef EXPLORE_SESSION_BOUNDED_RUN_H
#define EXPLORE_SESSION_BOUNDED_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct bounded_program {
	char *const *argv, *const *env;
	const char *stdin_path;  /* NULL: /dev/null */
	const char *output_path; /* standard output and error */
	unsigned timeout_ms;
	uint64_t output_max_bytes, free_min_bytes; /* 0 means 64 MiB */
	/* a client: connects to the port once the program listens, sends the bytes, and reads to
	 * the end */
	uint16_t port;
	const uint8_t *bytes;
	size_t len_bytes;
};

enum bounded_end {
	BOUNDED_EXITED,
	BOUNDED_KILLED,  /* by a signal */
	BOUNDED_HUNG,    /* ended because its time was over */
	BOUNDED_FLOODED, /* ended because it printed too much */
	/* ended because the disk of its output, or of the current folder, is almost full */
	BOUNDED_FULL,
	/* a server that was ended after its client was done; or bounded_run_stop() */
	BOUNDED_STOPPED,
};

struct bounded_run {
	const struct bounded_program *c;
	int pid; /* of its keeper */
	unsigned nsteps;
	double start_ms, until_ms, client_done_ms;
	int client_fd; /* -1: not connected */
	size_t client_sent;
	bool is_client_done, is_told; /* told to end with SIGTERM */
	/* set when it is over */
	enum bounded_end end;
	int status; /* exit status or signal */
	unsigned took_ms;
};

/* Starts a run. c must stay valid until the run is over. -1 if it could not be started. */
int bounded_run_start(struct bounded_run *r, const struct bounded_program *c, struct error *err);
bool bounded_run_step(struct bounded_run *r); /* true: it is over */
void bounded_run_stop(struct bounded_run *r); /* ends it at once */
void bounded_run_wait(void);                  /* sleeps a moment */

#endif
