/* Has the rows of option tables about judging an execution, for the commands that judge. */
#ifndef CMD_CHECK_OPTIONS_H
#define CMD_CHECK_OPTIONS_H

#include "cmd/cmd.h"
#include "session/checking.h"

/* A row of an option table: a struct word_list. */
#define LIBRARY_OPTION(globs) \
	{ \
		"library", 0, "GLOB", \
			"treat matching binaries and source files as libraries: report findings at their callers; may be repeated", \
			OPTION_LIST, globs \
	}

/* Rows of an option table; --platform and --pm are the command's own. */
#define CHECKING_OPTIONS(c) \
	{ "only", 0, "NAME", "run only this oracle; may be repeated", OPTION_LIST, &(c)->only }, \
		{ "with",      0,         "NAME", "also run this optional oracle (overwrite)", \
		  OPTION_LIST, &(c)->with }, \
		{ "oracle",    0, \
		  "FILE.so",   "also run the oracle in this shared object; may be repeated", \
		  OPTION_LIST, &(c)->oracles }, \
		LIBRARY_OPTION(&(c)->library_globs)

/* Prepares the options; platform: --platform, or NULL. Dies if an option is wrong: before a long
 * run, not after it. */
void check_options_begin(const struct command *command, struct checking *c, const char *platform);

/* Calls checking_judge(); dies if that fails. */
struct report *check_options_judge(const struct checking *c, const struct platform_traces *traces,
				   bool *is_complete);

#endif
