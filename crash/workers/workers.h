/* Workers, one a job, that share the failure points. */
#ifndef CRASH_WORKERS_WORKERS_H
#define CRASH_WORKERS_WORKERS_H

#include "crash/findings/exploration.h"
#include "crash/search/references.h"
#include "crash/workers/share.h"

/* What is to be done: of a share of the failure points, or of the stops of one wave of the
 * representatives, n from the first (from 0) on. */
struct lot {
	const struct share *share;
	uint64_t first, n;
};

/* What is found is added to the result. table: of at least so many workers as there are jobs; NULL
 * without races. */
int workers_run(const struct plan *p, const struct crash_options *o, const struct references *refs,
		const struct lot *lot, struct race_table *table, struct crash_result *r,
		struct crash_counters *counters, struct error *err);

#endif
