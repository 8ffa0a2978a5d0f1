/* Runs a program for its output. */
#ifndef UTIL_OUTPUT_H
#define UTIL_OUTPUT_H

#include "util/error.h"

/* Runs argv[0], searched in $PATH, with empty input and outside the terminal's process group. Gives
 * its standard output; free() it. NULL with err if it could not be started or failed; err then
 * holds the first line of its standard error. */
char *output_of(char *const argv[], struct error *err);

#endif
