/* Groups the findings of a report by cause: lists each finding under the one that a maintainer
 * would fix, so that one cause is one finding. */
#ifndef ACCOUNT_CAUSES_CAUSES_H
#define ACCOUNT_CAUSES_CAUSES_H

#include "report/bug.h"
#include "crash/setup/crash_setup.h"
#include "source/locate.h"
#include "trace/trace.h"

/* Groups the findings between the last report_add() and report_finish(). trace: the trace of the
 * findings; if it cannot be opened, nothing is grouped. libraries: as for locator_new().
 * docs/causes.md says what explains what. crash: the setup after crashing_explore() of that trace,
 * so that recovery can be run again as a proof; NULL: only oracles are asked again. The runs are
 * added to the report's coverage. */
void causes_fold(struct report *r, const char *trace, const struct libraries *libraries,
		 struct crash_setup *crash);

#endif
