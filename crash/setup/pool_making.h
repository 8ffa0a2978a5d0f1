/* Where a program has PMDK make a pool: one step, inside which no crash is tried unless the user
 * asks. */
#ifndef CRASH_SETUP_POOL_MAKING_H
#define CRASH_SETUP_POOL_MAKING_H

#include "crash/states/plan.h"

/* Marks the plan's sites. */
void pool_making_find(struct plan *p);

#endif
