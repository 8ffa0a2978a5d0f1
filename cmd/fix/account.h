/* Reports the outcome of every finding of a report that `pmend fix` was given; the numbers add up
 * to those of the report, or to what --only asks for. */
#ifndef CMD_FIX_ACCOUNT_H
#define CMD_FIX_ACCOUNT_H

#include "cmd/fix/fixing.h"

struct account {
	const struct fixing *f;
	/* findings that the report lists, including those under causes */
	size_t norigins;
	size_t nlibrary;           /* bugs of libraries, which it only counts */
	size_t *shown;             /* by origin: the call path with the worst outcome */
	size_t n[REPAIR_STATUSES]; /* findings */
	size_t nfailing;           /* findings that are left and set the exit status */
	/* as the report counts: without findings under causes */
	size_t nbugs, nbugs_by[REPAIR_STATUSES], nleft_out;
	size_t npartly; /* of those left: a part is fixed */
};

void account_init(struct account *a, const struct fixing *f);
void account_release(struct account *a);
void account_tell(const struct account *a);                    /* on standard error */
void account_write(const struct account *a, const char *path); /* as JSON */

#endif
