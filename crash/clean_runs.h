/* Tests before an exploration that recovery copes with the states where nothing is lost. */
#ifndef CRASH_CLEAN_RUNS_H
#define CRASH_CLEAN_RUNS_H

#include "crash/findings/exploration.h"
#include "crash/workers/share.h"

/* Fills npoints, walk_ns and timeout_ms of the result, lists the failure points for a strategy that
 * chooses among them, and takes this shard's share of them, with their events if crashes is not
 * NULL. If the program's own recovery dies although nothing is lost, the result gets that bug, and
 * exploring is pointless. -1: err says how recovery fails. */
int clean_runs_try(const struct plan *p, const struct crash_options *o, struct runner *runner,
		   struct crash_result *r, struct rep_points *points, struct share *share,
		   crash_events *crashes, crash_events *window_ends, struct error *err);
/* Fills err with the message that no run opened a PM file. Always -1. */
int clean_runs_not_opened(const struct recovery *c, struct error *err);

#endif
