/* Named tests of a project file, for `pmend test`. */
#ifndef CMD_TESTS_H
#define CMD_TESTS_H

#include "cmd/cmd.h"
#include "cmd/reporting.h"

/* Parses the command line. If it names tests (or nothing, which is all of them), a single one
 * becomes the command line: *argv is its command, and the current folder that of the project file.
 * Several are run in processes of their own, which return as if they had been called for one test;
 * the caller itself does not return: it ends with the report and the worst status. Returns how many
 * operands there are, not 0. */
int tests_parse(const struct command *c, const struct option *table, struct reporting *r, int argc,
		char ***argv);

#endif
