/* Counts how often a value was lost or taken as concrete. The path file contains the counts at its
 * end. */
#ifndef TRACER_COUNTS_H
#define TRACER_COUNTS_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

enum count { COUNT_ADDRESS, COUNT_JUMP, COUNT_GUARD, COUNT_LOST, COUNT_TABLE, COUNTS };
void count(enum count what);
void count_leaf(IROp op, const HChar *name); /* an operation made a symbolic value concrete */
/* Calls f for each count with its name. is_leaf: it was counted by count_leaf(). */
void counts_each(void (*f)(const HChar *what, ULong n, Bool is_leaf));

#endif
