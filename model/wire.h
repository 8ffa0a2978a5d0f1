/* Passes a model through a wire: the receiver continues where the sender is. */
#ifndef MODEL_WIRE_H
#define MODEL_WIRE_H

#include "model/model.h"
#include "util/wire.h"

/* Passes a model. t is a cursor of the trace from which the events come. The receiver needs a new
 * model of the same platform, and all definitions of the trace (trace_pass_definitions()). */
void model_pass(struct model *m, struct wire *w, const struct trace *t);

#endif
