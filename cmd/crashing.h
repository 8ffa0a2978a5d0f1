/* Exploring the crashes of a recording, for the commands that do: progress, interruption, and what comes of it. */
#ifndef CMD_CRASHING_H
#define CMD_CRASHING_H

#include "cmd/crash_setup.h"
#include "report/bug.h"

/* Adds to a report that is not finished; true if there was something to add. kept: what the trace is called when it is replayed. is_whole:
 * finding nothing means something. Dies if nothing could be explored. */
bool crashing_explore(struct crash_setup *s, const char *trace, const char *kept, struct report *report, bool *is_whole);

#endif
