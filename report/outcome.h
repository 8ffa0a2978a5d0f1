/* What a report comes to: which analyses ran, whether they failed, and which findings set the exit
 * status. A saved report has it, too, so that the status can be asked for again. */
#ifndef REPORT_OUTCOME_H
#define REPORT_OUTCOME_H

#include "report/bug.h"

/* What counts besides correctness bugs: --fail-on. */
struct report_fail_on {
	bool severity[BUG_SEVERITIES];
	/* findings inside PMDK's libraries; an analysis that is not complete */
	bool libraries, incomplete;
};

/* false: it is none of the words */
bool report_fail_on_add(struct report_fail_on *f, const char *word);
void report_set_fail_on(struct report *r, const struct report_fail_on *f);

/* "check", "crash", "races" or "explore" ran to its end. */
void report_add_analysis(struct report *r, const char *name);

/* Why nothing found means nothing. */
struct report_failure {
	/* "program": the program under test failed, and what it did before was judged. "analysis":
	 * pmend failed, or nothing could be explored */
	const char *what;
	const char *text; /* one sentence, without its full stop */
};
void report_set_failure(struct report *r, const char *what, const char *text);
const struct report_failure *report_failure(const struct report *r); /* NULL: nothing failed */

/* It sets the exit status. */
bool report_counts(const struct report *r, const struct bug *b);

/* The worst comes last; of several tests, the worst counts. */
enum report_outcome { REPORT_CLEAN, REPORT_FOUND, REPORT_FAILED };
enum report_outcome report_outcome(const struct report *r);

#endif
