/* Reads the project file, .pmend, which has options of commands, and named tests.
 *
 *	# a comment is a line of its own
 *	[crash]                          options of `pmend crash`, by their long names
 *	max-time = 300
 *	[test]                           of all tests
 *	recover = ./app check {}
 *	[test insert]                    a test
 *	command = ./app {pool} insert
 *
 * A value is the rest of its line, as it is: #, =, ; and quotes are part of it, and a line may be
 * of any length. It runs commands, so it is only read where nobody else could have written it. */
#ifndef CMD_PROJECT_FILE_H
#define CMD_PROJECT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"
#include "util/vec.h"

#define PROJECT_FILE ".pmend"

struct project_item {
	char *key, *value;
	unsigned line;
};

struct project_section {
	char *command; /* for example "test" */
	char *name;    /* of a test; NULL: the options of the command */
	unsigned line;
	VEC(struct project_item) items;
};

struct project_file {
	char *path, *folder; /* absolute; NULL: there is no file */
	VEC(struct project_section) sections;
};

/* Finds the file: in the current folder, or above it as long as folders have the same owner, but
 * not above $HOME, a mount point or a folder with .git. -1 if the file cannot be trusted, or is
 * wrong: the error begins with its path, or with FILE:LINE. */
int project_file_find(struct project_file *p, struct error *err);
/* parses a file with that path; keys and values are not checked */
int project_file_parse(struct project_file *p, const char *text, size_t len, struct error *err);

/* Finds the section of a command, or of its test with this name; NULL: there is none. */
const struct project_section *project_file_section(const struct project_file *p,
						   const char *command, const char *name);

#endif
