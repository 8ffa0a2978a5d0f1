/* Explores and reports: the part of the command that `pmend crash` and `pmend merge` share. */
#ifndef CMD_CMD_CRASH_H
#define CMD_CMD_CRASH_H

#include "cmd/reporting.h"
#include "crash/setup/crash_setup.h"

/* Explores with this setup and ends with a report; returns enum cmd_status. kept: the trace's name
 * in the report. */
int crash_explore_and_report(struct crash_setup *s, struct reporting *reporting, const char *trace,
			     const char *kept);

#endif
