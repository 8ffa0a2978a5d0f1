/* Patterns of file names, for --pm. */
#ifndef REC_GLOB_H
#define REC_GLOB_H

#include "valgrind/recorder/out/basics.h"

/* as the shell does, but * and ? match a slash, too */
Bool glob_match(const HChar *glob, const HChar *s);

#endif
