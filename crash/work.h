/* Explores the crashes of a recorded run, after the clean runs (clean_runs.h) have shown that
 * recovery copes with the states where nothing is lost. */
#ifndef CRASH_WORK_H
#define CRASH_WORK_H

#include "crash/findings/exploration.h"
#include "crash/workers/share.h"
#include "crash/search/references.h"

/* Is the dump compared with what recovery prints between operations? */
bool work_wants_references(const struct crash_options *o, const struct crash_result *r);
/* Continues from what the result contains. With representative testing it explores the chosen
 * points, otherwise the share. */
int work_on_all(const struct plan *p, const struct crash_options *o, struct references *refs,
		struct rep_points *points, const struct share *share, struct crash_result *r,
		struct error *err);

#endif
