/* Makes a report of several tests: each test's report as if it had run alone, and one list of all
 * bugs. Also keeps what the report says of the project file. */
#ifndef REPORT_TESTS_H
#define REPORT_TESTS_H

#include "report/bug.h"

/* The project file from which options came. */
struct report_project {
	const char *file; /* NULL: there is none */
	const char *test; /* the name of the test; NULL: it has none */
};
void report_set_project(struct report *r, const struct report_project *p);
/* Adds a word of the options in force, whether from the project file or from the command line. */
void report_add_option(struct report *r, const char *word);

/* Adds a test's finished report, which has the name of its test, to `all`, which then owns it. */
void report_add_test(struct report *all, struct report *test);
/* Finishes a report of tests. */
void report_finish_tests(struct report *all);
size_t report_ntests(const struct report *r); /* 0: the report is about one run */

#endif
