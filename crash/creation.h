/* A pool that is being made: recovery refuses it until initialisation has ended, whatever a crash
 * loses. */
#ifndef CRASH_CREATION_H
#define CRASH_CREATION_H

#include "crash/findings/exploration.h"

/* Fills r->creation if it explains several bugs; they stay as they are. */
void creation_find(const struct plan *p, const struct crash_options *o, struct crash_result *r);
/* All failing states of the bug are of a pool that is not complete. */
bool creation_explains(const struct creation *c, const struct crash_bug *b);

#endif
