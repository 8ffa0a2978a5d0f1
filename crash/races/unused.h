/* Does recovery use what it reads? */
#ifndef CRASH_RACES_UNUSED_H
#define CRASH_RACES_UNUSED_H

#include "crash/races/history.h"
#include "crash/search/explorer.h"

/* At the failure point of the walk, with the set loaded. 1: nobody uses any of the words; 0: somebody may; -1: error. */
int unused_ask(struct explorer *e, struct state_set *set, const struct suspects *words, struct error *err);

#endif
