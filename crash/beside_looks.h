/* Finds out whether recovery uses a file beside the pool that the program wrote, and whose contents
 * crash states do not include. */
#ifndef CRASH_BESIDE_LOOKS_H
#define CRASH_BESIDE_LOOKS_H

#include "crash/findings/exploration.h"

/* Gives the path of a file beside the pool which recovery reads or asks for at some failure point;
 * NULL if a few runs show none. free() it. */
char *beside_looks_find(const struct plan *p, const struct crash_options *o, uint64_t npoints);

#endif
