/* Finds where a program creates a pool with PMDK. Creation counts as one step: pmend tries no crash
 * inside it unless the user asks. */
#ifndef CRASH_SETUP_POOL_MAKING_H
#define CRASH_SETUP_POOL_MAKING_H

#include "crash/states/plan.h"

/* Marks in `making` of the plan the sites that are inside a call which creates a pool. */
void pool_making_find(struct plan *p);

#endif
