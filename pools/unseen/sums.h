/* Sums of what a recording's PM files held at its end, written after the last chunk of the
 * trace. */
#ifndef POOLS_UNSEEN_SUMS_H
#define POOLS_UNSEEN_SUMS_H

#include <stdbool.h>

#include "pools/unseen/kept.h"
#include "util/error.h"

/* False if there are none, because a file cannot be read. */
bool sums_write(const char *trace, uint32_t nfiles, struct kept *kept);

/* Compares the trace with its sums, if it has some that were not compared yet. Appends differences
 * to the trace, so call it before any analysis. -1: something differs, and the trace cannot be
 * written. */
int sums_settle(const char *trace, struct error *err);

#endif
