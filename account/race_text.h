/* Writes the sentences about reads of recovery that are bugs. */
#ifndef ACCOUNT_RACE_TEXT_H
#define ACCOUNT_RACE_TEXT_H

#include "crash/crash.h"

/* Does a commit variable forbid the read? */
bool race_is_semantic(const struct race *r);
/* Writes one sentence; free() it. values: those of a race for the same bytes, or NULL. */
char *race_message(const struct plan *p, const struct race *r, const char *values);

#endif
