/* What is said of a read of recovery that is a bug. */
#ifndef ACCOUNT_RACE_TEXT_H
#define ACCOUNT_RACE_TEXT_H

#include "crash/crash.h"

/* Of bytes that a commit variable forbids. */
bool race_is_semantic(const struct race *r);
/* One sentence; free() it. values: those of a race for the same bytes, or NULL. */
char *race_message(const struct plan *p, const struct race *r, const char *values);

#endif
