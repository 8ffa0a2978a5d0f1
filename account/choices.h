/* Adds to a crash in a report the reads of recovery that had a choice: reads of bytes that the
 * crash can leave with several values. */
#ifndef ACCOUNT_CHOICES_H
#define ACCOUNT_CHOICES_H

#include "account/crash_account.h"

/* Makes a report's choices, in the arena; the locator and the symbols own source lines and
 * names. */
void choices_tell(const struct crash_account *t, const struct crash_bug *from, struct arena *a,
		  struct bug_crash *out);

#endif
