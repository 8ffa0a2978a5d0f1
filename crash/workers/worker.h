/* A worker: a process that walks the trace on its own, claims failure points as it comes to them,
 * explores them, and tells its parent what it found. Its runner cleans up after it, whatever
 * happens to it. */
#ifndef CRASH_WORKERS_WORKER_H
#define CRASH_WORKERS_WORKER_H

#include "crash/findings/exploration.h"
#include "crash/search/references.h"
#include "crash/workers/workers.h"

/* Works until no point is left; tells the parent over fd. Returns the exit status of the process.
 * table: NULL without races; number: of this worker, from 0; lot: what all workers share. */
int worker_run(const struct plan *p, const struct crash_options *o, const struct references *refs,
	       const struct representatives *reps, struct crash_counters *counters,
	       struct race_table *table, uint32_t number, const struct lot *lot, int fd);

#endif
