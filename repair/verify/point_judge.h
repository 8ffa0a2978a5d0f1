/* Runs recovery on the crash states of failure points, for the search for cures: a small `pmend
 * crash`, on a trace that may be supposed to be different. Points that were judged before are not
 * run again. */
#ifndef REPAIR_VERIFY_POINT_JUDGE_H
#define REPAIR_VERIFY_POINT_JUDGE_H

#include "crash/cure.h"
#include "crash/search/references.h"
#include "crash/search/verdict_cache.h"
#include "repair/plan/watch.h"
#include "crash/setup/crash_setup.h"

struct point_judge {
	struct cure_judge judge; /* for crash/cure_trial.h */
	char outcome[400];       /* how recovery ended on the last state that failed */
	/* NULL: nobody watches; to be set before the first question */
	const struct repair_watch *watch;
	struct crash_counters counters;
	/* internal */
	const struct plan *plan;
	const struct recovery *recovery;
	struct runner *runner;
	struct references refs;
	struct explorer explorer;
	struct state_set set;
	struct verdict_cache verdicts;
	bool is_failed;
	/* limit for all points, and for one point as the user set it; 0: no limit */
	uint64_t max_runs, sample;
};

/* Keeps pointers to setup and plan. max_runs: limit of recovery runs for all questions, 0: none;
 * after that, points cannot be judged. -1 with err. */
int point_judge_init(struct point_judge *j, struct crash_setup *s, const struct plan *p,
		     uint64_t max_runs, struct error *err);
void point_judge_release(struct point_judge *j);

#endif
