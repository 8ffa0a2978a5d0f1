/* After a recording: do the files hold what the trace says? */
#ifndef POOLS_UNSEEN_COMPARE_H
#define POOLS_UNSEEN_COMPARE_H

#include "pmtrace.h"
#include "pools/unseen/kept.h"
#include "util/error.h"

/* Replays the trace and compares each PM file with the result. What differs becomes an INCOMPLETE
 * event at the end of the trace; a file that was not compared, a META "uncompared". A trace that is
 * damaged, or that a killed process left, is not compared. others: what else is known to be
 * missing, which the trace is told likewise; or NULL. Gives all that is missing, in words, or NULL;
 * free() it. */
char *compare_files(const char *trace, uint32_t nfiles, struct kept *kept, const char *others);
char *compare_tell(const char *trace, const char *others); /* only that */

/* The same with sums of what the files held, later, when they may be gone. sums NULL: they are
 * damaged. -1: what differs could not be written to the trace. */
enum compared { COMPARED_EQUAL, COMPARED_TOLD, COMPARED_NOT };
int compare_sums(const char *trace, uint32_t nfiles, const struct pmt_sums *sums,
		 struct error *err);

#endif
