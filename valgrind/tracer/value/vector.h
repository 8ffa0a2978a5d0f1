/* The part of ops.h for vectors. */
#ifndef TRACER_VECTOR_H
#define TRACER_VECTOR_H

#include "valgrind/tracer/value/value.h"

Bool vector_is_known(IROp op);
Bool vector_is_partial(IROp op);
Bool vector_apply(IROp op, const struct wide *args, struct wide *result);

#endif
