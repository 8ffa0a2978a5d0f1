/* Makes the shell command that runs the program on one input again. */
#ifndef EXPLORE_SESSION_RERUN_H
#define EXPLORE_SESSION_RERUN_H

#include "explore/session/input.h"
#include "record/recorder.h"

/* How it is recorded again. */
struct rerun_options {
	const struct recording *recording; /* --threads and what belongs to it */
	uint32_t nschedules;               /* 0: none */
	uint64_t seed;
};

/* Gives a command line for a shell; free() it. file: the file that contains the input. */
char *rerun_command(const struct parts *p, const uint8_t *input, char *const *target,
		    const char *file, const struct rerun_options *o);

#endif
