/* Restores a program's pool files to what they were when it mapped them, so that it can be recorded
 * once more from the same state. The first run's files are kept until the second run is known to
 * have worked. */
#ifndef POOLS_RESTORE_H
#define POOLS_RESTORE_H

#include <stdbool.h>

#include "util/error.h"

struct restore;

/* Puts back all files of a trace. NULL, and nothing is changed, if that cannot be done exactly; the
 * error says why. */
struct restore *restore_begin(const char *trace, struct error *err);

/* The second run worked: forgets what the first one made of the files. Or it did not: that comes
 * back in place of whatever is there now. -1 with the first failure; what could not come back keeps
 * its other name, which the error tells. */
int restore_end(struct restore *p, bool is_repeated, struct error *err);

#endif
