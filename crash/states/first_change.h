/* Finds out whether a recording changed anything. */
#ifndef CRASH_STATES_FIRST_CHANGE_H
#define CRASH_STATES_FIRST_CHANGE_H

#include "crash/states/plan.h"

/* Did a store change bytes, or did a file appear, disappear, or change its size or name? */
bool news_in(const struct plan *p);

#endif
