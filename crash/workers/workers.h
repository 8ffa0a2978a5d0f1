/* Runs one worker per job; all share the failure points. */
#ifndef CRASH_WORKERS_WORKERS_H
#define CRASH_WORKERS_WORKERS_H

#include "crash/findings/exploration.h"
#include "crash/search/references.h"
#include "crash/workers/share.h"

/* The work: n failure points of a share, or n stops of a wave of representative testing, from
 * number `first` (from 0) on. */
struct lot {
	const struct share *share;
	uint64_t first, n;
};

/* Explores the lot with several workers and adds their findings to the result. table: with room for
 * as many workers as jobs; NULL without races. */
int workers_run(const struct plan *p, const struct crash_options *o, const struct references *refs,
		const struct lot *lot, struct race_table *table, struct crash_result *r,
		struct crash_counters *counters, struct error *err);

#endif
