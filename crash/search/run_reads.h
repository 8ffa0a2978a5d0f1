/* Collects, over a whole exploration, which stores of the program lazy runs read and which files
 * they cut. */
#ifndef CRASH_SEARCH_RUN_READS_H
#define CRASH_SEARCH_RUN_READS_H

#include "crash/run/runner.h"
#include "crash/search/verdict.h"
#include "crash/states/states.h"
#include "crash/states/walk.h"
#include "util/map.h"
#include "util/vec.h"
#include "util/wire.h"

/* Zero-initialised: no run yet. */
struct run_reads {
	/* sites whose stores some run read while they could be lost */
	struct map sites;
	VEC(struct file_cuts {
		uint64_t kept_bytes; /* the largest size to which a run cut the file */
		uint64_t n;          /* runs that cut something off */
		/* reads of bytes that could be lost, before the run cut the file */
		uint64_t nreads;
	})
	files; /* index: file number */
};

/* Notes what a lazy run at the present failure point of the walk decided. */
void run_reads_note(struct run_reads *r, const struct walk *w, const struct state_set *set,
		    const struct run_decision *d, size_t n, const struct verdict *v);
/* Notes to what length the runner's last run cut each file. */
void run_reads_note_cuts(struct run_reads *r, const struct walk *w, const struct runner *runner);
void run_reads_add(struct run_reads *r, const struct run_reads *more);
void run_reads_pass(struct wire *m, struct run_reads *r); /* what is received is added */
void run_reads_release(struct run_reads *r);

#endif
