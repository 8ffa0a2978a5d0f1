/* Whether recovery uses a file beside the pool that the program wrote, and that crash states do not
 * follow. */
#ifndef CRASH_BESIDE_LOOKS_H
#define CRASH_BESIDE_LOOKS_H

#include "crash/findings/exploration.h"

/* The path of such a file, which recovery reads or asks for at some of the failure points; NULL: it
 * does not, as far as a few runs show. free() it. */
char *beside_looks_find(const struct plan *p, const struct crash_options *o, uint64_t npoints);

#endif
