/* Finds out what would fix the bugs that a crash shows, by trials on the trace. */
#ifndef REPAIR_VERIFY_CURES_H
#define REPAIR_VERIFY_CURES_H

#include "repair/repair.h"
#include "report/bug.h"
#include "crash/setup/crash_setup.h"
#include "util/notes.h"

struct cures;

struct cure_options {
	bool is_explained;                /* tell each cure that fails */
	const struct repair_watch *watch; /* NULL: nobody watches */
	/* limit of recovery runs, 0: none; not set: twice those that found the bugs */
	struct optional_number max_runs;
};

/* How much was tried. */
struct cure_effort {
	uint64_t ntried, nfailed, nruns;
};

/* Sets the cure of each bug (bugs[i] is bug i of the report). The result owns what the cures point
 * to. NULL: the trace cannot be opened. */
struct cures *cures_find(const struct report *report, struct repair_bug **bugs,
			 const struct crash_reader *reader, const struct notes *notes,
			 const struct cure_options *options, struct error *err);
void cures_free(struct cures *c); /* NULL is allowed */

/* Returns the path of the trace on which cures were tried; NULL: none. */
const char *cures_trace(const struct cures *c);
struct cure_effort cures_effort(const struct cures *c);

#endif
