/* What a program prints. */
#ifndef UTIL_OUTPUT_H
#define UTIL_OUTPUT_H

#include "util/error.h"

/* Runs argv[0], which is looked for in $PATH, with nothing to read and away from the terminal's
 * signals. Gives its standard output (free() it). NULL with err if it could not be started, or if
 * it failed: then err is the first line of its standard error. */
char *output_of(char *const argv[], struct error *err);

#endif
