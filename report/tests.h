/* A report of several tests: each one's report as if it had run alone, and the bugs of all in one
 * list. What a project file says of a report. */
#ifndef REPORT_TESTS_H
#define REPORT_TESTS_H

#include "report/bug.h"

/* Where options came from. */
struct report_project {
	const char *file; /* NULL: there is none */
	const char *test; /* the name of the test; NULL: none */
};
void report_set_project(struct report *r, const struct report_project *p);
/* A word of the options in force: of the file and of the command line. */
void report_add_option(struct report *r, const char *word);

/* Becomes a part of all, which takes it over. It is finished, and has the name of its test. */
void report_add_test(struct report *all, struct report *test);
/* Ends a report of tests. */
void report_finish_tests(struct report *all);
size_t report_ntests(const struct report *r); /* 0: it is about one run */

#endif
