/* Exploring the crashes of a recording, for the commands that do: progress, interruption, and what comes of it. */
#ifndef SESSION_CRASHING_H
#define SESSION_CRASHING_H

#include "report/bug.h"
#include "session/crash_setup.h"

/* Adds to a report that is not finished; true if there was something to add. kept: what the trace is called when it is replayed. is_whole:
 * finding nothing means something. Dies if nothing could be explored. */
bool crashing_explore(struct crash_setup *s, const char *trace, const char *kept, struct report *report, bool *is_whole);

#endif
