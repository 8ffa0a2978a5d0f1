/* Exploring the crashes of a recording, and what comes of it. */
#ifndef SESSION_CRASHING_H
#define SESSION_CRASHING_H

#include "report/bug.h"
#include "crash/setup/crash_setup.h"

/* Adds to a report that is not finished. Returns 1 if there was something to add, 0 if not, -1 with
 * err if nothing could be explored. kept: what the trace is called when it is replayed. is_whole:
 * finding nothing means something. */
int crashing_explore(struct crash_setup *s, const char *trace, const char *kept,
		     struct report *report, bool *is_whole, struct error *err);

#endif
