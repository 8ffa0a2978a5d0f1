/* What a report says of the recording itself: the command, how it ended, what nobody saw. */
#ifndef ACCOUNT_RECORDED_H
#define ACCOUNT_RECORDED_H

#include "model/cut.h"
#include "report/bug.h"
#include "trace/trace.h"

/* Says nothing of a program that ended well. The trace was read to its end. */
/* last: of its last event that has one; NULL: not known. */
void recorded_add_ending(struct report *r, const struct trace *t, enum cut_extent cut,
			 const struct trace_site *last);
/* The program was ended before it was done, in words; NULL: it was not. free() it */
char *recorded_cut_short(const struct trace *t);
/* What keeps a trace from being all that happened, in words; NULL: it is. That processes were
 * killed does not count: everything up to then is there. */
const char *recorded_loss(const struct trace *t);

/* Tells the report what was recorded, and where. A scratch pool is {pool} there: its path means
 * nothing any more. */
void recorded_add_command(struct report *r, const struct trace *t);

/* What is said of a report in which a dmb of PMDK's libraries was taken for a dsb
 * (model_ntrusted()). */
extern const char recorded_trusted[];
extern const char recorded_sandbox[];
/* how files of --files were judged, in words; NULL: none was followed. free() it */
char *recorded_files(const struct trace *t);
/* of --old-bytes: what it did, in words; NULL: it was not used. free() it */
char *recorded_old_bytes(const struct trace *t, uint64_t nbytes);
/* a file that was not compared with the trace, in words; NULL: none. free() it */
char *recorded_uncompared(const struct trace *t);

#endif
