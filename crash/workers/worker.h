/* A worker: a process that walks the trace, claims failure points as it comes to them, explores
 * them, and reports its findings to the parent. Its runner cleans up after it in any case. */
#ifndef CRASH_WORKERS_WORKER_H
#define CRASH_WORKERS_WORKER_H

#include "crash/findings/exploration.h"
#include "crash/search/references.h"
#include "crash/workers/workers.h"

/* Works until no failure point is left, and reports to the parent over fd. Returns the exit status
 * of the process. table: NULL without races; number: of this worker, from 0; lot: the failure
 * points that all workers share. */
int worker_run(const struct plan *p, const struct crash_options *o, const struct references *refs,
	       const struct representatives *reps, struct crash_counters *counters,
	       struct race_table *table, uint32_t number, const struct lot *lot, int fd);

#endif
