/* pmemcheck's --log-stores=yes logs, turned into traces.
 *
 * What the log does not say is not made up: all events belong to one thread, there is no initial
 * content, and loads, transactions and unmappings are absent. A FLUSH becomes a clwb for every line
 * it touches, since the log does not name the instruction; FENCE becomes sfence; markers and
 * DEEP_SYNC become log events with their text. Stores outside every REGISTER_FILE go to files with
 * PMT_FILE_MEMORY. A log of more than one process is refused.
 *
 * The log names functions, a trace only addresses: a META event "frame:0x1234=function (file:line)"
 * precedes the first event that uses the address. */
#ifndef TRACE_IMPORT_H
#define TRACE_IMPORT_H

#include "trace/symbols.h"
#include "util/alloc.h"

struct import_result {
	uint64_t nevents;
	uint32_t nfiles;
	char truncated[256]; /* what is missing if the log has no STOP, else empty */
};

/* Reads the log and writes the trace. On -1, the trace may be left half written: the caller removes
 * it. */
int import_pmemcheck(const char *log_path, const char *trace_path, struct import_result *result,
		     struct error *err);

/* The name that an imported trace has for a code address. Its strings live in the arena. */
bool import_frame_find(const struct trace *t, uint64_t pc, struct symbol *symbol,
		       struct arena *arena);

#endif
