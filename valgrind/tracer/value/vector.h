/* Applies operations of VEX's IR to vectors. ops.h uses it for operations that are not in its own
 * table. */
#ifndef TRACER_VECTOR_H
#define TRACER_VECTOR_H

#include "valgrind/tracer/value/value.h"

Bool vector_is_known(IROp op);
Bool vector_is_partial(IROp op);
Bool vector_apply(IROp op, const struct wide *args, struct wide *result);

#endif
