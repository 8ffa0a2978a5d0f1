/* Judges and reports: the part of the command that `pmend test` and `pmend merge` share. */
#ifndef CMD_CMD_TEST_H
#define CMD_CMD_TEST_H

#include "cmd/reporting.h"
#include "session/checking.h"
#include "crash/setup/crash_setup.h"

/* Makes a report from a recording: about the execution and, if wanted, its crashes; returns enum
 * cmd_status. kept: the trace's name in the report. has_found: a crash shows a bug. */
int test_judge_and_report(const struct checking *c, struct crash_setup *s,
			  struct reporting *reporting, const struct platform_traces *traces,
			  const char *kept, bool *has_found);

#endif
