/* Runs recovery on the crash states of failure points, for those who look for cures: `pmend crash` in miniature, on a trace that may be supposed to be
 * another one. What was judged before is not run again. */
#ifndef CMD_FIX_JUDGE_H
#define CMD_FIX_JUDGE_H

#include "cmd/crash_setup.h"
#include "crash/cure.h"
#include "crash/search/verdict_cache.h"
#include "crash/search/references.h"

struct fix_judge {
	struct cure_judge judge; /* for crash/cure.h */
	char outcome[400];	 /* of the last state that failed */
	struct crash_counters counters;
	/* inside */
	const struct plan *plan;
	const struct recovery *recovery;
	struct runner *runner;
	struct references refs;
	struct explorer explorer;
	struct state_set set;
	struct verdict_cache verdicts;
	bool is_failed;
};

/* Borrows setup and plan. -1 with err. */
int fix_judge_init(struct fix_judge *j, struct crash_setup *s, const struct plan *p, struct error *err);
void fix_judge_release(struct fix_judge *j);

#endif
