/* A crash that can lose one store, which replaced a word at once, and nothing else, might as well
 * have come before that store: recovery finds what the program had at the failure point before, or
 * what it has at this one, and runs on both of them anyway. */
#ifndef CRASH_RACES_LONE_STORE_H
#define CRASH_RACES_LONE_STORE_H

#include "crash/states/walk.h"

/* At a failure point: it is so here. nstores_before: the walk's number of stores at the failure
 * point before; store: that one. */
bool lone_store_find(const struct walk *w, uint64_t nstores_before, struct model_store *store);

#endif
