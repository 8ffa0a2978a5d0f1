/* Writes the scripts with which shells complete pmend's command line. */
#ifndef CMD_COMPLETION_COMPLETION_H
#define CMD_COMPLETION_COMPLETION_H

#include "cmd/cmd.h"

/* What an argument can be. */
enum completes {
	COMPLETES_NOTHING, /* for example a number */
	COMPLETES_WORDS,
	COMPLETES_FILES,
	COMPLETES_FOLDERS,
	COMPLETES_PROGRAMS, /* a command line in one word */
};

struct completion {
	enum completes what;
	char *words; /* separated by spaces; NULL: none. free() it */
};

/* Says what the argument of an option completes to, such as a file or one of some words. */
struct completion completion_of(const struct command *c, const struct option *o);

/* A shell; each function prints a part of its script. */
struct completion_shell {
	const char *name;
	void (*begin)(const struct command *const *all);
	void (*command)(const struct command *c, const struct option *table);
	void (*end)(const struct command *const *all);
};

extern const struct completion_shell completion_bash, completion_zsh, completion_fish;

/* Prints words for a script, in single quotes; characters in `special` get a backslash. */
void completion_quote(const char *text, const char *special);

#endif
