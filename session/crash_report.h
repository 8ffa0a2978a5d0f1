/* From what exploring crashes found to a report. */
#ifndef SESSION_CRASH_REPORT_H
#define SESSION_CRASH_REPORT_H

#include "report/bug.h"
#include "session/crash_setup.h"
#include "trace/symbols.h"

/* s, trace: for the command that replays a state. */
void crash_report_add(struct report *r, const struct plan *p, const struct crash_result *c, const struct crash_setup *s, const char *trace);

/* Functions at an address of a command of recovery, as symbols_find(); 0: nothing is known. */
size_t crash_report_symbols(const struct crash_result *c, enum recovery_part part, struct symbols *symbols, uint64_t pc, bool is_return,
			    const struct symbol **list);

#endif
