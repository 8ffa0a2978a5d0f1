/* Remembers how large expressions can be on this path, as the program's own comparisons show. */
#ifndef TRACER_BOUNDS_H
#define TRACER_BOUNDS_H

#include "valgrind/tracer/value/value.h"

void bound_note(struct val condition); /* call it for the condition of each branch */
/* Gives the largest value that the expression can have; all ones if unknown. */
ULong bound_of(UInt id);

#endif
