/* Explores the crashes of a recording, and adds the result to a report. */
#ifndef SESSION_CRASHING_H
#define SESSION_CRASHING_H

#include "report/bug.h"
#include "crash/setup/crash_setup.h"

/* Adds to an unfinished report. Returns 1 if there was something to add, 0 if not, -1 with err if
 * nothing could be explored. kept: the trace's name in commands that replay. is_whole: enough was
 * explored to say that there are no bugs. */
int crashing_explore(struct crash_setup *s, const char *trace, const char *kept,
		     struct report *report, bool *is_whole, struct error *err);
/* Adds what threads read of each other before it was durable (unpersisted-read), if the trace was
 * recorded with --threads. To be called after crashing_explore(), when no oracle has judged the
 * trace. */
void crashing_add_pairs(const struct crash_setup *s, struct report *report);

#endif
