/* From what exploring crashes found to a report. */
#ifndef CMD_CRASH_REPORT_H
#define CMD_CRASH_REPORT_H

#include "crash/crash.h"
#include "report/bug.h"

/* replay, trace: the command that replays a state, before and after the state's own text. */
void crash_report_add(struct report *r, const struct plan *p, const struct crash_result *c, const char *replay, const char *trace);

#endif
