/* From the races that exploring crashes found to a report. */
#ifndef ACCOUNT_RACE_REPORT_H
#define ACCOUNT_RACE_REPORT_H

#include "account/crash_account.h"

/* Adds those that are bugs of their own. */
void race_report_add(const struct crash_account *t);
/* A race for what a failing state lost is no bug of its own, but tells where recovery relies on it.
 * A sentence, or NULL; free() it. */
char *race_report_evidence(const struct crash_account *t, const struct crash_bug *b);
/* The races that are meant so, for the report's coverage; NULL: none; free() it. */
char *race_report_note(const struct crash_result *c, const struct plan *p,
		       const struct libraries *libraries);
/* Some are bugs. */
bool race_report_has_bugs(const struct crash_result *c);

#endif
