/* The shell command that runs the program on one input again. */
#ifndef EXPLORE_SESSION_RERUN_H
#define EXPLORE_SESSION_RERUN_H

#include "explore/session/input.h"

/* A command line for a shell; file contains the input. free() it. */
char *rerun_command(const struct parts *p, const uint8_t *input, char *const *target,
		    const char *file);

#endif
