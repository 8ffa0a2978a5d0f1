/* Whether a recording changed anything. */
#ifndef CRASH_STATES_NEWS_H
#define CRASH_STATES_NEWS_H

#include "crash/states/plan.h"

/* Some store left other bytes than were there, or a file appeared, changed its size or name, or
 * went. */
bool news_in(const struct plan *p);

#endif
