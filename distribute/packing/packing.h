/* Makes a bundle of a trace and its recovery: what recovery is and needs is found by looking at its
 * command lines, by asking the loader for libraries, and by running it on a few states of the
 * trace, where the runtime notes each path that it names. */
#ifndef DISTRIBUTE_PACKING_PACKING_H
#define DISTRIBUTE_PACKING_PACKING_H

#include "bundle/bundle.h"
#include "crash/setup/crash_setup.h"

/* Fills b for an exploration as it is set up. -1 with err: it cannot be explored here either. */
int packing_collect(struct bundle *b, struct crash_setup *s, const char *trace, struct error *err);

#endif
