/* pmend crash --failures: explores crashes during recovery. */
#ifndef SESSION_CRASH_AGAIN_H
#define SESSION_CRASH_AGAIN_H

#include "report/bug.h"
#include "crash/setup/crash_setup.h"

struct crash_again {
	uint64_t first_crashes, failure_points, runs, left_out;
	bool is_complete;
	bool is_late; /* --max-time was over */
};

/* Records recovery on states of the result that recovery changes, and explores crashes of these
 * recordings; `more` is the number of further crashes. Adds bugs to the report. -1 if nothing can
 * be recorded or explored. */
int crash_again(struct crash_setup *s, const struct plan *p, const struct crash_result *result,
		struct report *report, uint64_t more, struct crash_again *sum, struct error *err);

#endif
