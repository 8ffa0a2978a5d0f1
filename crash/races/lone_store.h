/* Finds out whether a crash can lose only one store, which replaced a word atomically. If so, the
 * crash might as well have come before that store. Recovery then finds what the program had at the
 * failure point before, or what it has at this one, and both are explored anyway. */
#ifndef CRASH_RACES_LONE_STORE_H
#define CRASH_RACES_LONE_STORE_H

#include "crash/states/walk.h"

/* Finds that store at a failure point. False: the crash can lose something else. nstores_before:
 * the walk's number of stores at the failure point before. */
bool lone_store_find(const struct walk *w, uint64_t nstores_before, struct model_store *store);

#endif
