/* Judging an execution, for the commands that do: the options about oracles, plug-ins, platforms, and what they come to. */
#ifndef SESSION_CHECKING_H
#define SESSION_CHECKING_H

#include "check/check.h"
#include "cmd/cmd.h"
#include "session/platforms.h"

struct checking {
	const char *platform;
	struct option_list only, with, oracles;
	struct recording recording;
	/* inside */
	struct plugin **plugins; /* ends with NULL */
	const char **names_only, **names_with;
	struct check_options options; /* all but the platform */
	bool is_all;		      /* platforms */
};

/* Rows of an option table; --platform and --pm are the command's own. */
#define CHECKING_OPTIONS(c)                                                                                                  \
	{ "only", 0, "NAME", "run only this oracle; may be repeated", OPTION_LIST, &(c)->only },                              \
	{ "with", 0, "NAME", "run this optional oracle, too (overwrite)", OPTION_LIST, &(c)->with },                          \
	{ "oracle", 0, "FILE.so", "run the oracle in this shared object, too; may be repeated", OPTION_LIST, &(c)->oracles }

/* Dies if something is wrong: before a long run, not after it. */
void checking_begin(const struct command *command, struct checking *c);
void checking_end(struct checking *c);

/* A report, not finished, about the traces (with --platform all there may be several). Dies if they cannot be read. */
struct report *checking_judge(const struct checking *c, const struct platform_traces *traces, bool *is_complete);

#endif
