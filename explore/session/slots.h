/* Runs the program on inputs: a slot runs one input at a time, while other slots run other inputs.
 * A slot has a folder for the files of its run. With --schedules, an input that does something new
 * is recorded several times. */
#ifndef EXPLORE_SESSION_SLOTS_H
#define EXPLORE_SESSION_SLOTS_H

#include "explore/session/bounded_run.h"
#include "explore/session/exploring.h"
#include "session/schedules.h"
#include "util/tempdir.h"
#include "util/vec.h"

/* A recording of the slot's input. */
struct slot_recording {
	char *trace;
	uint32_t schedule; /* its number; 0: the threads competed */
	enum bounded_end end;
	int status;      /* exit status or signal */
	uint32_t nfiles; /* how many PM files it used */
	unsigned took_ms;
};

struct slot {
	unsigned number; /* 0 uses the pools themselves (pools.h) */
	enum { SLOT_FREE, SLOT_RECORDING, SLOT_TRACING, SLOT_SCHEDULING } state;
	struct explore_input in;
	struct tempdir folder;
	char *path, *log; /* files in the folder */
	struct parts_run parts;
	int memory_fd; /* of recorder_memory() */
	char **argv, **env;
	struct bounded_program program;
	struct bounded_run run;
	int traced_status; /* how the traced run ended */
	/* those that are to be judged; a schedule that repeats another one is not */
	VEC(struct slot_recording) recordings;
	struct schedules *schedules; /* NULL: the threads compete */
	struct schedule order;       /* of the run, with schedules */
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
