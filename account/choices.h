/* The reads of recovery that had a choice, for the report of a crash. */
#ifndef ACCOUNT_CHOICES_H
#define ACCOUNT_CHOICES_H

#include "account/crash_account.h"

/* In the arena; source lines and names are the locator's and the symbols'. */
void choices_tell(const struct crash_account *t, const struct crash_bug *from, struct arena *a,
		  struct bug_crash *out);

#endif
