/* Says what representative testing looked at, for the report's coverage and for
 * --explain-groups. */
#ifndef ACCOUNT_GROUP_REPORT_H
#define ACCOUNT_GROUP_REPORT_H

#include "report/bug.h"
#include "crash/setup/crash_setup.h"

struct group_report {
	struct report_groups groups; /* borrows from this struct */
	VEC(struct report_group) list;
	struct arena arena;
};

/* Makes the list of groups for a report. r must come from representative testing. */
void group_report_init(struct group_report *g, const struct plan *p, const struct crash_result *r,
		       const struct libraries *libraries);
void group_report_release(struct group_report *g);
/* Says for the report's note how many groups there are, and how many were tested; free() it. */
char *group_report_note(const struct crash_result *r);
/* Lists all groups with the places of their members; free() it. */
char *group_report_explain(const struct plan *p, const struct crash_result *r,
			   const struct libraries *libraries);

#endif
