/* An input for people: how to run the program on it once more. */
#ifndef EXPLORE_SESSION_RERUN_H
#define EXPLORE_SESSION_RERUN_H

#include "explore/session/input.h"

/* A command line that a shell would run in the same way; file: where the input is kept.
 * malloc'd. */
char *rerun_command(const struct parts *p, const uint8_t *input, char *const *target,
		    const char *file);

#endif
