/* Keeping a trace that was recorded into a scratch folder. */
#ifndef CMD_TRACE_KEEP_H
#define CMD_TRACE_KEEP_H

#include "record/recording.h"

/* Where the trace of a command is kept in this folder if nobody says it: pmend-COMMAND.pmt, or
 * pmend-COMMAND-PID.pmt while another pmend is at work here, whose replays go with that file. The
 * caller frees it. */
char *trace_keep_name(const char *command);

/* Copies it if it is needed once more: to replay what was found, or because the program failed, and
 * may not do so again; then says so. */
void trace_keep(const char *trace, const char *kept, enum recorded recorded, bool is_found);

/* Why there is nothing to judge: no persistent memory, or pmend was stopped. */
const char *recorded_text(enum recorded recorded);

#endif
