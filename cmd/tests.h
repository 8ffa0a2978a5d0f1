/* Runs the named tests of a project file, for `pmend test`. */
#ifndef CMD_TESTS_H
#define CMD_TESTS_H

#include "cmd/cmd.h"
#include "cmd/reporting.h"

/* Parses the command line. If it names one test, the test becomes the command line: *argv is its
 * command, and the current folder is that of the project file. If it names several (or none, which
 * means all), each runs in a child process; tests_parse() returns there as for one test. The parent
 * does not return: it ends with the joined report and the worst status. Returns the number of
 * operands, not 0. */
int tests_parse(const struct command *c, const struct option *table, struct reporting *r, int argc,
		char ***argv);

#endif
