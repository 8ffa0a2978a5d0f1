/* Finds the bugs of kind recovery-output: recovery ends well on a state that lost something, but
 * prints what it never prints when nothing is lost. */
#ifndef CRASH_OUTPUTS_JUDGE_H
#define CRASH_OUTPUTS_JUDGE_H

#include "crash/findings/exploration.h"

/* Judges the doubtful outputs of the result after all failure points were explored, and adds bugs.
 * -1 if recovery cannot be run at all. */
int outputs_judge(const struct plan *p, const struct crash_options *o, struct crash_result *r,
		  struct crash_counters *counters, struct error *err);

#endif
