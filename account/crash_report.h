/* Makes bugs of a report from what exploring crashes found. */
#ifndef ACCOUNT_CRASH_REPORT_H
#define ACCOUNT_CRASH_REPORT_H

#include "crash/setup/crash_setup.h"

/* Adds the bugs. s and trace: for the command that replays a state. */
void crash_report_add(struct report *r, const struct plan *p, const struct crash_result *c,
		      const struct crash_setup *s, const char *trace);

#endif
