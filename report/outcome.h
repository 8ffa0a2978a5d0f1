/* Says what a report means for the exit status: which analyses ran, whether one failed, and which
 * findings count. A saved report has it, too, so that the status can be computed again. */
#ifndef REPORT_OUTCOME_H
#define REPORT_OUTCOME_H

#include "report/bug.h"

/* What counts besides correctness bugs (--fail-on). */
struct report_fail_on {
	bool severity[BUG_SEVERITIES];
	/* findings inside PMDK's libraries; an incomplete analysis */
	bool libraries, incomplete;
};

/* Adds a word of --fail-on. Returns false if it is no such word. */
bool report_fail_on_add(struct report_fail_on *f, const char *word);
void report_set_fail_on(struct report *r, const struct report_fail_on *f);

/* Notes that "check", "crash", "races" or "explore" ran to its end. */
void report_add_analysis(struct report *r, const char *name);

/* A failure, after which "nothing found" means nothing. */
struct report_failure {
	/* "program": the program under test failed, and only what it did before that was judged.
	 * "analysis": pmend failed, or there was nothing to explore */
	const char *what;
	const char *text; /* one sentence, without a full stop */
};
void report_set_failure(struct report *r, const char *what, const char *text);
const struct report_failure *report_failure(const struct report *r); /* NULL: nothing failed */

/* Does the bug set the exit status? */
bool report_counts(const struct report *r, const struct bug *b);

/* What a report comes to, best first. Of several tests, the worst outcome counts. */
enum report_outcome { REPORT_CLEAN, REPORT_FOUND, REPORT_FAILED };
enum report_outcome report_outcome(const struct report *r);

#endif
