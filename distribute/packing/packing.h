/* Makes a bundle of a trace and its recovery. What recovery needs is found in its command lines, by
 * asking the loader for libraries, and by running recovery on a few states while the runtime notes
 * each path. */
#ifndef DISTRIBUTE_PACKING_PACKING_H
#define DISTRIBUTE_PACKING_PACKING_H

#include "bundle/bundle.h"
#include "crash/setup/crash_setup.h"

/* Fills b with what an exploration with this setup needs. -1 with err if the exploration is not
 * possible on this machine either. */
int packing_collect(struct bundle *b, struct crash_setup *s, const char *trace, struct error *err);

#endif
