/* A slot is where one input runs, in parallel with those of other slots. It has its own folder for
 * the files of a run. */
#ifndef EXPLORE_SESSION_SLOTS_H
#define EXPLORE_SESSION_SLOTS_H

#include "explore/session/bounded_run.h"
#include "explore/session/exploring.h"
#include "util/tempdir.h"

struct slot {
	unsigned number; /* 0: with the pools themselves, see pools.h */
	enum { SLOT_FREE, SLOT_RECORDING, SLOT_TRACING } state;
	struct explore_input in;
	struct tempdir folder;
	char *trace, *path, *log; /* files in it */
	struct parts_run parts;
	char **argv, **env;
	struct bounded_program program;
	struct bounded_run run;
	/* how the recorded run ended */
	enum bounded_end end;
	int status;
	uint32_t nfiles; /* of PM */
};

/* -1: the exploration cannot go on. */
int slot_init(struct slot *s, unsigned number, struct error *err);
void slot_release(struct slot *s);
/* takes the input over */
int slot_start(struct exploring *x, struct slot *s, const struct explore_input *in,
	       struct error *err);
/* 1: its input is done, and it is free again */
int slot_step(struct exploring *x, struct slot *s, struct error *err);
void slot_stop(struct exploring *x, struct slot *s); /* at once; its input counts as never run */

#endif
