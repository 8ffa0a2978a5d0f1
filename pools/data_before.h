/* What a recording began with, and whether it did anything at all: findings, and none, mean less
 * where the work had been done before. */
#ifndef POOLS_DATA_BEFORE_H
#define POOLS_DATA_BEFORE_H

#include <stdbool.h>

#include "util/notes.h"

/* Tells if the trace has no store. wants_note: and if a file held data before, which --fresh does
 * without. A trace that cannot be read says so elsewhere. */
void data_before_say(const struct notes *notes, const char *trace, bool wants_note);

#endif
