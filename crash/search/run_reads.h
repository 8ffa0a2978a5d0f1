/* What lazy runs read of the program's stores, and which files they cut, over a whole
 * exploration. */
#ifndef CRASH_SEARCH_RUN_READS_H
#define CRASH_SEARCH_RUN_READS_H

#include "crash/run/runner.h"
#include "crash/search/verdict.h"
#include "crash/states/states.h"
#include "crash/states/walk.h"
#include "util/map.h"
#include "util/vec.h"
#include "util/wire.h"

/* Zero-initialised is of no run. */
struct run_reads {
	/* places of the program whose stores some run read while they could be lost */
	struct map sites;
	VEC(struct file_cuts {
		uint64_t kept_bytes; /* at its beginning, which some run has not cut off */
		uint64_t n;          /* runs that have cut something off */
		uint64_t nreads;     /* of what could be lost, before the run had cut it */
	})
	files; /* by number */
};

/* What a lazy run at the failure point where the walk is decided. */
void run_reads_note(struct run_reads *r, const struct walk *w, const struct state_set *set,
		    const struct run_decision *d, size_t n, const struct verdict *v);
/* What the last run of the runner cut off. */
void run_reads_note_cuts(struct run_reads *r, const struct walk *w, const struct runner *runner);
void run_reads_add(struct run_reads *r, const struct run_reads *more);
void run_reads_pass(struct wire *m, struct run_reads *r); /* what is received is added */
void run_reads_release(struct run_reads *r);

#endif
