/* Makes what a report says about the recording: the command, how it ended, what was not seen. */
#ifndef ACCOUNT_RECORDED_H
#define ACCOUNT_RECORDED_H

#include "model/cut.h"
#include "model/files.h"
#include "report/bug.h"
#include "trace/trace.h"

/* Adds to the report how the recording ended, unless the program ended well; for a trace that was
 * read to its end. last: the site of the last event that has one; NULL: unknown. */
void recorded_add_ending(struct report *r, const struct trace *t, enum cut_extent cut,
			 const struct trace_site *last);
/* Says that the program was ended before it was done; NULL: it was not. free() it. */
char *recorded_cut_short(const struct trace *t);
/* Says why the trace does not contain everything that happened; NULL: it does. Killed processes do
 * not count, because everything up to that moment is there. */
const char *recorded_loss(const struct trace *t);

/* Adds what was recorded, and where. A scratch pool becomes {pool}, because its path means nothing
 * any more. */
void recorded_add_command(struct report *r, const struct trace *t);

/* The note of a report in which a dmb of PMDK's libraries counted as a dsb (model_ntrusted()). */
extern const char recorded_trusted[];
extern const char recorded_sandbox[];
/* says how files of --files were judged; NULL: none was followed. free() it */
char *recorded_files(const struct trace *t, enum files_profile p);
/* Notes in the report that files were followed, and by which profile they were judged. */
void recorded_set_files(struct report *r, const struct trace *t, enum files_profile p);
/* Lists the names of the profiles whose bits are set. Returns how many there are. */
size_t recorded_profiles(unsigned bits, const char *names[FILES_PROFILES]);
/* says what --old-bytes did; NULL: it was not used. free() it */
char *recorded_old_bytes(const struct trace *t, uint64_t nbytes);
/* says how many pairs of a store and a load of two threads can still meet; NULL: none. free() it */
char *recorded_candidates(size_t n);
/* names a file that was not compared with the trace; NULL: none. free() it */
char *recorded_uncompared(const struct trace *t);

#endif
