/* Finds the part of the trace in which the program makes its pool: until initialisation has ended,
 * recovery refuses the pool, whatever a crash loses. */
#ifndef CRASH_CREATION_H
#define CRASH_CREATION_H

#include "crash/findings/exploration.h"

/* Fills r->creation if the making of the pool explains several bugs. The bugs themselves are not
 * changed. */
void creation_find(const struct plan *p, const struct crash_options *o, struct crash_result *r);
/* Do all failing states of the bug have a pool that is not completely initialised? */
bool creation_explains(const struct creation *c, const struct crash_bug *b);

#endif
