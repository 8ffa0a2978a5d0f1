/* Runs recovery on the crash states of failure points, for those who look for cures: `pmend crash`
 * in miniature, on a trace that may be supposed to be another one. What was judged before is not
 * run again. */
#ifndef REPAIR_VERIFY_POINT_JUDGE_H
#define REPAIR_VERIFY_POINT_JUDGE_H

#include "crash/cure.h"
#include "crash/search/references.h"
#include "crash/search/verdict_cache.h"
#include "repair/plan/watch.h"
#include "crash/setup/crash_setup.h"

struct point_judge {
	struct cure_judge judge;          /* for crash/cure.h */
	char outcome[400];                /* of the last state that failed */
	const struct repair_watch *watch; /* NULL: nobody; set it before it is asked */
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
	/* the latter: of one failure point, as the user said; 0: no limit */
	uint64_t max_runs, sample;
};

/* Borrows setup and plan. max_runs: of recovery, for all that is asked, 0: no limit; what is asked
 * later cannot be judged. -1 with err. */
int point_judge_init(struct point_judge *j, struct crash_setup *s, const struct plan *p,
		     uint64_t max_runs, struct error *err);
void point_judge_release(struct point_judge *j);

#endif
