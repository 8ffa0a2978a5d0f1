/* Recording a program: what `pmend record` does, and other commands that are given a program instead of a trace. */
#ifndef CMD_RECORDING_H
#define CMD_RECORDING_H

#include <stdbool.h>

#include "cmd/options.h"
#include "model/model.h"

struct recording {
	const char *output; /* the trace */
	struct option_list pm;
	const struct platform *platform;
	bool loads, instructions, no_follow, check_stacks, quiet;
};

/* Runs the program and tells the user what came of it; returns CMD_CLEAN or CMD_FAILED. Dies if nothing was recorded. */
int recording_run(const struct recording *r, char **target);

/* The platform of that name; dies with a message about wrong usage of the command. */
const struct platform *recording_platform(const struct command *c, const char *name);

/* The folder with the recorder and the runtime: beside the binary in the build folder, or in PREFIX/libexec. Dies if there is none; the
 * caller frees it. */
char *recording_libexec(void);

#endif
