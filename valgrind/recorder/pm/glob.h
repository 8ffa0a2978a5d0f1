/* Matches file names with patterns, for --pm. */
#ifndef REC_GLOB_H
#define REC_GLOB_H

#include "valgrind/recorder/out/basics.h"

/* Asks whether the pattern matches s. It matches as in the shell, but * and ? also match a
 * slash. */
Bool glob_match(const HChar *glob, const HChar *s);

#endif
