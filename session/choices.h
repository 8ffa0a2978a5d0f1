/* The reads of recovery that had a choice, for the report of a crash. */
#ifndef SESSION_CHOICES_H
#define SESSION_CHOICES_H

#include "session/crash_telling.h"

/* In the arena; source lines and names are the locator's and the symbols'. */
void choices_tell(const struct crash_telling *t, const struct crash_bug *from, struct arena *a,
		  struct bug_crash *out);

#endif
