/* Runs a program that may hang, crash or leave processes behind: in a process group of its own, which is ended with it; without a terminal; within
 * a time limit. */
#ifndef CMD_CONTAINED_H
#define CMD_CONTAINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct contained {
	char *const *argv, *const *env;
	const char *stdin_path;	 /* NULL: /dev/null */
	const char *output_path; /* both outputs; NULL: /dev/null */
	unsigned timeout_ms;
	/* a client to play: connects to the port when the program listens, sends, and reads until the end */
	uint16_t port;
	const uint8_t *bytes;
	size_t len_bytes;
};

enum contained_end {
	CONTAINED_EXITED,
	CONTAINED_KILLED,  /* by a signal of its own */
	CONTAINED_HUNG,	   /* ended when the time was over */
	CONTAINED_STOPPED, /* a server, ended after the client had its answers */
};

/* status: exit status or signal. -1 if it could not be started. */
int contained_run(const struct contained *c, enum contained_end *end, int *status, struct error *err);

#endif
