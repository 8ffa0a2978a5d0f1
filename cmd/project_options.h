/* Options of a project file (cmd/project/file.h), for the commands that read it: they parse with
 * project_parse(). What the command line says counts more. */
#ifndef CMD_PROJECT_OPTIONS_H
#define CMD_PROJECT_OPTIONS_H

#include "cmd/cmd.h"
#include "cmd/project/file.h"

/* An option that has an effect. */
struct in_force {
	const struct option *option;
	const char *value; /* NULL: it takes none */
	unsigned line;     /* of the file; 0: it is of the command line */
};

struct project {
	struct project_file file;
	const char *test; /* that runs; NULL: none */
	VEC(struct in_force) in_force;
	bool is_used; /* some of the options in force are the file's, or the test is */
};

/* A row of an option table. */
#define PROJECT_OPTION(is_off) \
	{ \
		"no-project", 0, NULL, "do not read the project file (.pmend)", OPTION_FLAG, \
			is_off \
	}

/* options_parse(), with what the file says. Dies if the file is wrong. */
int project_parse(const struct command *c, const struct option *table, enum option_order order,
		  int argc, char **argv);

/* The same in two steps. false: no file is to be read, or there is none. Else the file is looked
 * at, with all of its sections. */
bool project_begin(const struct command *c, const struct option *table,
		   const struct command_line *line);
/* Sets the values. test: the one that runs; NULL: none. */
void project_apply(const struct command *c, const struct command_line *line,
		   const struct option *table, const char *test);
/* Paths of the command line are meant from the current folder, which will not be it any more. */
void project_leave(const struct command *c, struct command_line *line);

/* "FILE:LINE" of the option that a message about the command line begins with, if the file said it;
 * NULL: it did not. free() it. */
char *project_place(const struct command *c, const char *text);

/* Tells a report what was used. */
struct report;
void project_tell(const struct project *p, struct report *r);

#endif
