/* Implements pmend crash --replay: rebuilds one crash state and runs recovery on it once more, so
 * that a person can look at it. */
#ifndef CMD_CRASH_REPLAY_H
#define CMD_CRASH_REPLAY_H

#include "cmd/crash_options.h"

/* Replays the crash state. Returns enum cmd_status: CMD_FOUND if recovery fails. */
int crash_replay(struct crash_setup *s, const struct crash_replay_options *o, const char *trace);

#endif
