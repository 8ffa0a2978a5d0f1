/* Writes sums of what a recording's PM files held at its end, behind the last chunk of the trace,
 * and compares the trace with them later. */
#ifndef POOLS_UNSEEN_SUMS_H
#define POOLS_UNSEEN_SUMS_H

#include <stdbool.h>

#include "pools/unseen/received_fds.h"
#include "util/error.h"

/* Writes the sums behind the trace's chunks. False if a file cannot be read; then there are
 * none. */
bool sums_write(const char *trace, uint32_t nfiles, struct kept *kept);

/* Compares the trace with its sums, if it has some that were not compared yet. Appends differences
 * to the trace, so call it before any analysis. -1: something differs, and the trace cannot be
 * written. */
int sums_settle(const char *trace, struct error *err);

#endif
