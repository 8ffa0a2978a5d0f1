/* Patterns of file names, for --pm. */
#ifndef REC_GLOB_H
#define REC_GLOB_H

#include "valgrind/recorder/out/basics.h"

/* Like the shell, but * and ? also match a slash. */
Bool glob_match(const HChar *glob, const HChar *s);

#endif
