/* Warns about a recording that stored nothing, or whose files held data before: findings, and the
 * absence of findings, then mean less. */
#ifndef POOLS_DATA_BEFORE_H
#define POOLS_DATA_BEFORE_H

#include <stdbool.h>

#include "util/notes.h"

/* Warns if the trace has no store and, if wants_note, if a file held data before, which --fresh
 * avoids. Says nothing about a trace that cannot be read. */
void data_before_say(const struct notes *notes, const char *trace, bool wants_note);

#endif
