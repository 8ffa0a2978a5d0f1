/* Turns logs of pmemcheck (--log-stores=yes) into traces.
 *
 * What the log does not say is left out: all events belong to one thread, and there is no initial
 * content, no load, no transaction and no unmapping. A FLUSH becomes a clwb of every line that it
 * touches, because the log does not name the instruction. A FENCE becomes an sfence. Markers and
 * DEEP_SYNC become log events with their text. Stores outside every REGISTER_FILE go to files with
 * PMT_FILE_MEMORY. A log of several processes is refused.
 *
 * The log names functions, a trace only addresses. So a META event "frame:0x1234=function
 * (file:line)" comes before the first event that uses the address. */
#ifndef TRACE_IMPORT_H
#define TRACE_IMPORT_H

#include "trace/symbols.h"
#include "util/alloc.h"

struct import_result {
	uint64_t nevents;
	uint32_t nfiles;
	char truncated[256]; /* says what is missing if the log has no STOP; else empty */
};

/* Reads the log and writes the trace. On -1, the caller removes the trace, which may be
 * incomplete. */
int import_pmemcheck(const char *log_path, const char *trace_path, struct import_result *result,
		     struct error *err);

/* Finds the name that an imported trace has for a code address. The strings live in the arena. */
bool import_frame_find(const struct trace *t, uint64_t pc, struct symbol *symbol,
		       struct arena *arena);

#endif
