/* Races on their way from a worker to its parent. */
#ifndef CRASH_RACE_WIRE_H
#define CRASH_RACE_WIRE_H

#include "crash/crash.h"
#include "crash/wire.h"

void race_put(struct wire *m, const struct race *r);
void race_get(struct wire *m, struct race *r);
/* One race of several workers is one: the earliest tells of it (of those that are certain, if any is), and whoever knows most says what it is. Takes r. */
void race_merge(struct crash_result *result, struct race *r);

#endif
