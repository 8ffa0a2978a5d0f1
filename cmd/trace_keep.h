/* Keeps a trace that was recorded into a scratch folder. */
#ifndef CMD_TRACE_KEEP_H
#define CMD_TRACE_KEEP_H

#include "cmd/reporting.h"
#include "record/recording.h"

/* Gives the name under which a command keeps its trace if the user names none:
 * pmend-out/COMMAND.pmt, or pmend-out/COMMAND-PID.pmt while another pmend in this folder uses that
 * name for its replays. free() it. */
char *trace_keep_name(const char *command);

/* Copies the trace if it is needed again, and says so in one line: to replay what was found, or
 * because the program failed and may not do so again. */
void trace_keep(const char *trace, const char *kept, enum recorded recorded, bool is_found,
		const struct reporting *reporting);

/* Says why there is nothing to judge: no persistent memory, or pmend was stopped. */
const char *recorded_text(enum recorded recorded);

#endif
