/* Restores a program's pool files to what they were when it mapped them, so that it can be recorded
 * again from the same state. The files of the first run are kept until the second run has
 * succeeded. */
#ifndef POOLS_RESTORE_H
#define POOLS_RESTORE_H

#include <stdbool.h>

#include "util/error.h"

struct restore;

/* Restores all files of a trace. NULL with err if that is not exactly possible; then nothing has
 * changed. */
struct restore *restore_begin(const char *trace, struct error *err);

/* The same, but for the files below folders that were followed (--files). */
struct restore *restore_begin_others(const char *trace, struct error *err);

/* Ends a restoration. is_repeated: the second run succeeded, and the first run's
 * files are removed. Otherwise these replace whatever is there now. -1 with the first failure;
 * a file that could not be moved back keeps its other name, which err contains. */
int restore_end(struct restore *p, bool is_repeated, struct error *err);

#endif
