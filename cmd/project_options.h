/* Adds the options of a project file (cmd/project/file.h) to those of the command line, for the
 * commands that read it: they parse with project_parse(). The command line has precedence. */
#ifndef CMD_PROJECT_OPTIONS_H
#define CMD_PROJECT_OPTIONS_H

#include "cmd/cmd.h"
#include "cmd/project/file.h"

/* An option that has an effect. */
struct in_force {
	const struct option *option;
	const char *value; /* NULL: it takes none */
	unsigned line;     /* of the file; 0: it is from the command line */
};

struct project {
	struct project_file file;
	const char *test; /* the test that runs; NULL: none */
	VEC(struct in_force) in_force;
	bool is_used; /* some options in force come from the file, or the test does */
};

/* A row of an option table. */
#define PROJECT_OPTION(is_off) \
	{ \
		"no-project", 0, NULL, "do not read the project file (.pmend)", OPTION_FLAG, \
			is_off \
	}

/* Parses argv like options_parse(), and adds the options of the project file. Dies if the file is
 * wrong. */
int project_parse(const struct command *c, const struct option *table, enum option_order order,
		  int argc, char **argv);

/* Does project_parse() in two steps: project_begin() finds the file, project_apply() sets the
 * values. False: no file is to be read, or there is none. Otherwise all sections of the file are
 * checked. */
bool project_begin(const struct command *c, const struct option *table,
		   const struct command_line *line);
/* Sets the values of all options. test: the test that runs; NULL: none. */
void project_apply(const struct command *c, const struct command_line *line,
		   const struct option *table, const char *test);
/* Makes paths of the command line absolute, because the current folder will change. */
void project_leave(const struct command *c, struct command_line *line);

/* Gives "FILE:LINE" of the option that a message about the command line begins with, if the option
 * comes from the file; NULL if it does not. free() it. */
char *project_place(const struct command *c, const char *text);

/* Notes in a report what was used. */
struct report;
void project_tell(const struct project *p, struct report *r);

#endif
