/* Runs the program on inputs: a slot runs one input at a time, while other slots run other inputs.
 * A slot has a folder for the files of its run. */
#ifndef EXPLORE_SESSION_SLOTS_H
#define EXPLORE_SESSION_SLOTS_H

#include "explore/session/bounded_run.h"
#include "explore/session/exploring.h"
#include "util/tempdir.h"

struct slot {
	unsigned number; /* 0 uses the pools themselves (pools.h) */
	enum { SLOT_FREE, SLOT_RECORDING, SLOT_TRACING } state;
	struct explore_input in;
	struct tempdir folder;
	char *trace, *path, *log; /* files in the folder */
	struct parts_run parts;
	int memory_fd; /* of recorder_memory() */
	char **argv, **env;
	struct bounded_program program;
	struct bounded_run run;
	/* how the recorded run ended */
	enum bounded_end end;
	int status;
	uint32_t nfiles; /* how many PM files it used */
};

/* Prepares an empty slot. This function and the next ones return -1 if the exploration cannot
 * continue. */
int slot_init(struct slot *s, unsigned number, struct error *err);
void slot_release(struct slot *s);
/* Starts the run of an input in the slot; takes ownership of the input. */
int slot_start(struct exploring *x, struct slot *s, const struct explore_input *in,
	       struct error *err);
/* Continues the slot's run if it is ready for that. 1: the input is done, and the slot is free
 * again. */
int slot_step(struct exploring *x, struct slot *s, struct error *err);
void slot_stop(struct exploring *x, struct slot *s); /* at once; the input counts as never run */

#endif
