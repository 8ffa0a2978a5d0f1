/* What `pmend test` and `pmend merge` share. */
#ifndef CMD_CMD_TEST_H
#define CMD_CMD_TEST_H

#include "cmd/reporting.h"
#include "session/checking.h"
#include "crash/setup/crash_setup.h"

/* What was recorded becomes a report: of the execution and, if wanted, of its crashes; returns enum
 * cmd_status. kept: what the trace is called in it. has_found: a crash shows a bug. */
int test_judge_and_report(const struct checking *c, struct crash_setup *s,
			  struct reporting *reporting, const struct platform_traces *traces,
			  const char *kept, bool *has_found);

#endif
