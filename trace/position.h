/* Sends the position of a cursor through a wire. A cursor that receives it goes on from there
 * without reading what came before. */
#ifndef TRACE_POSITION_H
#define TRACE_POSITION_H

#include "trace/trace.h"
#include "util/wire.h"

/* Gives a hash of all chunk headers. Chunk headers contain hashes of the content, so the same
 * recording has the same hash, and other recordings have others. */
uint64_t trace_identity(const struct trace *t);

/* Passes all definitions of a trace that was read to its end. The receiver needs them before any
 * position. */
void trace_pass_definitions(struct trace *t, struct wire *w);
/* Passes the position of a cursor. The receiving cursor must not have read anything yet. If its
 * trace is another one, or is damaged at the position, w->is_bad is set. */
void trace_pass_position(struct trace *t, struct wire *w);
/* Passes an event. Its data (ev->data) must be in the file, as a blob, or absent. */
void trace_pass_event(const struct trace *t, struct wire *w, struct trace_event *ev);

/* Finds the site with this id; NULL if there is none. All sites are there after
 * trace_pass_definitions(), or when the trace was read to its end. */
const struct trace_site *trace_site(const struct trace *t, uint64_t id);

#endif
