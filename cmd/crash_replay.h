/* pmend crash --replay: one crash state again, to look at. */
#ifndef CMD_CRASH_REPLAY_H
#define CMD_CRASH_REPLAY_H

#include "cmd/crash_options.h"

/* Returns enum cmd_status: CMD_FOUND if recovery fails. */
int crash_replay(struct crash_setup *s, const struct crash_replay_options *o, const char *trace);

#endif
