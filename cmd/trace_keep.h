/* Keeping a trace that was recorded into a scratch folder. */
#ifndef CMD_TRACE_KEEP_H
#define CMD_TRACE_KEEP_H

#include "session/recording.h"

/* Copies it if it is needed once more: to replay what was found, or because the program failed, and may not do so again; then says so. */
void trace_keep(const char *trace, const char *kept, enum recorded recorded, bool is_found);

#endif
