/* pmend crash --replay: one crash state again, to look at. */
#ifndef CMD_CRASH_REPLAY_H
#define CMD_CRASH_REPLAY_H

#include "session/crash_setup.h"

int crash_replay(struct crash_setup *s, const char *trace); /* returns enum cmd_status: 1 if recovery fails */

#endif
