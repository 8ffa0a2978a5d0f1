/* Sends the position of a cursor through a wire. A cursor that receives it goes on from there
 * without reading what came before. */
#ifndef TRACE_POSITION_H
#define TRACE_POSITION_H

#include "trace/trace.h"
#include "util/wire.h"

/* A hash of all chunk headers, which contain hashes of the content: the same for the same
 * recording. */
uint64_t trace_identity(const struct trace *t);

/* Passes all definitions of a trace that was read to its end. The receiver needs them before any
 * position. */
void trace_pass_definitions(struct trace *t, struct wire *w);
/* The receiving cursor must not have read anything yet. is_bad if the trace is another one, or
 * damaged at that place. */
void trace_pass_position(struct trace *t, struct wire *w);
/* Passes an event whose data is in the file (a blob) or absent. */
void trace_pass_event(const struct trace *t, struct wire *w, struct trace_event *ev);

/* The site with this id; NULL if there is none. Complete after trace_pass_definitions(), or at the
 * end of the trace. */
const struct trace_site *trace_site(const struct trace *t, uint64_t id);

#endif
