/* What would mend the bugs that a crash shows: tried on the trace before anything is written. */
#ifndef REPAIR_VERIFY_CURES_H
#define REPAIR_VERIFY_CURES_H

#include "repair/repair.h"
#include "report/bug.h"
#include "crash/setup/crash_setup.h"
#include "util/notes.h"

struct cures;

struct cure_options {
	bool is_explained;                /* each cure that fails is told */
	const struct repair_watch *watch; /* NULL: nobody */
	/* of recovery, 0: no limit; not set: twice those that found the bugs */
	struct optional_number max_runs;
};

/* What was tried on the trace. */
struct cure_effort {
	uint64_t ntried, nfailed, nruns;
};

/* Fills in the cure of each bug, which are those of the report. Owns what the cures point to. NULL
 * if the trace cannot be opened. */
struct cures *cures_find(const struct report *report, struct repair_bug **bugs,
			 const struct crash_reader *reader, const struct notes *notes,
			 const struct cure_options *options, struct error *err);
void cures_free(struct cures *c); /* NULL is fine */

/* By which they were tried; NULL if there is none. */
const char *cures_trace(const struct cures *c);
struct cure_effort cures_effort(const struct cures *c);

#endif
