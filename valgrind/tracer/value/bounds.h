/* How large expressions can be on this path. */
#ifndef TRACER_BOUNDS_H
#define TRACER_BOUNDS_H

#include "valgrind/tracer/value/value.h"

void bound_note(struct val condition); /* a branch depends on it */
ULong bound_of(UInt id);

#endif
