/* Keeping a trace that was recorded into a scratch folder. */
#ifndef CMD_TRACE_KEEP_H
#define CMD_TRACE_KEEP_H

#include "cmd/reporting.h"
#include "record/recording.h"

/* Where the trace of a command is kept if nobody says it: pmend-out/COMMAND.pmt, or
 * pmend-out/COMMAND-PID.pmt while another pmend is at work in this folder, whose replays go with
 * that file. The caller frees it. */
char *trace_keep_name(const char *command);

/* Copies it if it is needed once more: to replay what was found, or because the program failed, and
 * may not do so again. Says in one line where it is. */
void trace_keep(const char *trace, const char *kept, enum recorded recorded, bool is_found,
		const struct reporting *reporting);

/* Why there is nothing to judge: no persistent memory, or pmend was stopped. */
const char *recorded_text(enum recorded recorded);

#endif
