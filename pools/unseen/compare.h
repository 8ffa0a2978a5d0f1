/* Compares PM files with the trace after a recording, to find changes that were not recorded. */
#ifndef POOLS_UNSEEN_COMPARE_H
#define POOLS_UNSEEN_COMPARE_H

#include "pmtrace.h"
#include "pools/unseen/received_fds.h"
#include "util/error.h"

/* Replays the trace and compares each PM file with the result. A difference becomes an INCOMPLETE
 * event at the end of the trace, a file that was not compared a META event "uncompared". A trace
 * that is damaged, or left by a killed process, is not compared. others: what else is known to be
 * missing, which is appended, too; may be NULL. Gives all that is missing, in words, or NULL;
 * free() it. */
char *compare_files(const char *trace, uint32_t nfiles, struct kept *kept, const char *others);
char *compare_tell(const char *trace, const char *others); /* only appends `others` */

/* Compares with sums of the files' final content, later, when the files may be gone. sums is NULL
 * if they are damaged. -1: something differs, and the trace cannot be written. */
enum compared { COMPARED_EQUAL, COMPARED_TOLD, COMPARED_NOT };
int compare_sums(const char *trace, uint32_t nfiles, const struct pmt_sums *sums,
		 struct error *err);

#endif
