/* A slot is where one input is run, beside those of other slots: it has its own folder for what belongs to a run. */
#ifndef EXPLORE_SESSION_SLOTS_H
#define EXPLORE_SESSION_SLOTS_H

#include "explore/session/exploring.h"

struct slot {
	unsigned number; /* 0: with the pools themselves, see explore_pools.h */
	enum { SLOT_FREE, SLOT_RECORDING, SLOT_TRACING } state;
	struct explore_input in;
	char *folder, *trace, *path, *log; /* scratch; files in it */
	struct parts_run parts;
	char **argv, **env;
	struct contained contained;
	struct contained_run run;
	/* how the recorded run ended */
	enum contained_end end;
	int status;
	uint32_t nfiles; /* of PM */
};

void slot_init(struct slot *s, unsigned number);
void slot_release(struct slot *s);
void slot_start(struct exploring *x, struct slot *s, const struct explore_input *in); /* takes the input over */
bool slot_step(struct exploring *x, struct slot *s); /* true: its input is done, and it is free again */
void slot_stop(struct exploring *x, struct slot *s); /* at once; its input counts as never run */

#endif
