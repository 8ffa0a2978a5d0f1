/* Recording a program: what `pmend record` does, and other commands that are given a program instead of a trace. */
#ifndef SESSION_RECORDING_H
#define SESSION_RECORDING_H

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

/* What recording_run() would run, for those who run it themselves: words and environment, each to be freed with free() and so are their strings.
 * Valgrind's own messages go to descriptor log_fd. env is changed as recording needs it. */
char **recording_argv(const struct recording *r, const char *output, int log_fd, char **target);
char **recording_env(const struct recording *r, char **env);

/* The platform of that name; dies with a message about wrong usage of the command. */
const struct platform *recording_platform(const struct command *c, const char *name);

/* The folder with the recorder and the runtime: beside the binary in the build folder, or in PREFIX/libexec. Dies if there is none; the
 * caller frees it. */
char *recording_libexec(void);

#endif
