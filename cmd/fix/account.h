/* Every finding of the report, accounted for: the numbers add up to those of the report, or to what
 * --only asks for. */
#ifndef CMD_FIX_ACCOUNT_H
#define CMD_FIX_ACCOUNT_H

#include "cmd/fix/fixing.h"

struct account {
	const struct fixing *f;
	size_t norigins;           /* findings that the report lists, also under their causes */
	size_t nlibrary;           /* bugs of libraries that it only counts */
	size_t *shown;             /* by origin: the call path that came off worst */
	size_t n[REPAIR_STATUSES]; /* findings */
	size_t nfailing;           /* of those left: they set the exit status */
	/* as the report counts them: without those under causes */
	size_t nbugs, nbugs_by[REPAIR_STATUSES], nleft_out;
	size_t npartly; /* of those left: something of it is mended */
};

void account_init(struct account *a, const struct fixing *f);
void account_release(struct account *a);
void account_tell(const struct account *a);                    /* on standard error */
void account_write(const struct account *a, const char *path); /* as JSON */

#endif
