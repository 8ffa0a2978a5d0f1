/* Operations that were only guessed, from the program's outputs, and overlap: what a dump should
 * print in the middle of such a one is not known. */
#ifndef CRASH_STATES_OVERLAP_H
#define CRASH_STATES_OVERLAP_H

#include "crash/states/plan.h"

typedef VEC(bool) overlap_list; /* by operation of the plan; none: none overlaps with another one */

/* Reads the trace again, but not if the program marks its operations, or one thread does all. */
void overlap_find(const struct plan *p, overlap_list *out);

#endif
