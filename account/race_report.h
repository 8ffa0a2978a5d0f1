/* Makes bugs of a report from the races that exploring crashes found. */
#ifndef ACCOUNT_RACE_REPORT_H
#define ACCOUNT_RACE_REPORT_H

#include "account/crash_account.h"

/* Adds the races that are bugs of their own. */
void race_report_add(const struct crash_account *t);
/* Says where recovery relies on a store that a failing state lost: a race for such a store is no
 * bug of its own. A sentence, or NULL; free() it. */
char *race_report_evidence(const struct crash_account *t, const struct crash_bug *b);
/* Lists the intended races, for the report's coverage; NULL: none; free() it. */
char *race_report_note(const struct crash_result *c, const struct plan *p,
		       const struct libraries *libraries);
/* Is one of the races a bug? */
bool race_report_has_bugs(const struct crash_result *c);

#endif
