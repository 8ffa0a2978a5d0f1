/* From what exploring crashes found to a report. */
#ifndef SESSION_CRASH_REPORT_H
#define SESSION_CRASH_REPORT_H

#include "session/crash_setup.h"

/* s, trace: for the command that replays a state. */
void crash_report_add(struct report *r, const struct plan *p, const struct crash_result *c,
		      const struct crash_setup *s, const char *trace);

#endif
