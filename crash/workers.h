/* Workers, one a job, that share the failure points. */
#ifndef CRASH_WORKERS_H
#define CRASH_WORKERS_H

#include "crash/exploration.h"
#include "crash/search/references.h"

/* All failure points, or the stops of one wave of the representatives. What is found is added to the result. */
int workers_run(const struct plan *p, const struct crash_options *o, const struct references *refs, struct crash_result *r,
		struct crash_counters *counters, struct error *err);

#endif
