/* recovery-output: recovery ends well on a state that lost something, and prints what it prints at
 * no moment at which nothing is lost. */
#ifndef CRASH_OUTPUTS_JUDGE_H
#define CRASH_OUTPUTS_JUDGE_H

#include "crash/findings/exploration.h"

/* After all failure points were explored: looks into the doubts of the result, and adds bugs to it.
 * -1: recovery cannot be run at all. */
int outputs_judge(const struct plan *p, const struct crash_options *o, struct crash_result *r,
		  struct crash_counters *counters, struct error *err);

#endif
