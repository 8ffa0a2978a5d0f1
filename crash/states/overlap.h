/* Finds operations that were guessed from the program's outputs and overlap. Nobody knows what a
 * dump should print in the middle of such an operation. */
#ifndef CRASH_STATES_OVERLAP_H
#define CRASH_STATES_OVERLAP_H

#include "crash/states/plan.h"

typedef VEC(bool) overlap_list; /* by operation of the plan; empty: no two operations overlap */

/* Reads the trace once more. Not needed if the program marks its operations, or if one thread does
 * everything. */
void overlap_find(const struct plan *p, overlap_list *out);

#endif
