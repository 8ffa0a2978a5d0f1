/* A model through a wire: whoever receives it goes on where the sender is. */
#ifndef MODEL_WIRE_H
#define MODEL_WIRE_H

#include "model/model.h"
#include "util/wire.h"

/* t: a cursor of the trace that the events come from. Received: by a new model of the same
 * platform, when all that the trace defines is known. */
void model_pass(struct model *m, struct wire *w, const struct trace *t);

#endif
