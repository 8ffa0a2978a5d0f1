/* Where a cursor of a trace is, through a wire: whoever receives it goes on from there, and reads
 * nothing of what came before. */
#ifndef TRACE_POSITION_H
#define TRACE_POSITION_H

#include "trace/trace.h"
#include "util/wire.h"

/* Of the file, by what its chunks say of their content: the same for the same recording. */
uint64_t trace_identity(const struct trace *t);

/* All that was defined when the trace was read to its end. It is received before any position
 * is. */
void trace_pass_definitions(struct trace *t, struct wire *w);
/* Received: by a cursor that has read nothing. It is bad if the trace is not the same, or damaged
 * there. */
void trace_pass_position(struct trace *t, struct wire *w);
/* An event that has a blob, or none at all. */
void trace_pass_event(const struct trace *t, struct wire *w, struct trace_event *ev);

/* By its id; NULL: there is none. Final after trace_pass_definitions(), or at the end. */
const struct trace_site *trace_site(const struct trace *t, uint64_t id);

#endif
