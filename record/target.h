/* Checks the program under test before it is started: can it run, and can Valgrind run it? */
#ifndef RECORD_TARGET_H
#define RECORD_TARGET_H

#include "util/error.h"

/* Checks a program by its name, which is searched in $PATH. -1 with one clear sentence unless it is
 * a program of this machine's architecture, or a script, that we may execute. */
int target_check(const char *name, struct error *err);

#endif
