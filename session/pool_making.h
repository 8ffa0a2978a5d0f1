/* Where a program has PMDK make a pool: one step, inside which no crash is tried unless the user asks. */
#ifndef SESSION_POOL_MAKING_H
#define SESSION_POOL_MAKING_H

#include "crash/states/plan.h"

/* Marks the plan's sites. */
void pool_making_find(struct plan *p);

#endif
