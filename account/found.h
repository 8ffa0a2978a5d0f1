/* Describes findings in one line each while an exploration runs, before anything is known about
 * their causes. */
#ifndef ACCOUNT_FOUND_H
#define ACCOUNT_FOUND_H

#include "crash/setup/crash_setup.h"

/* Did the program declare everything that was lost as unimportant (SET_CLEAN, PMEND_IGNORE)? Then
 * it is no finding. */
bool found_is_declared(const struct plan *p, const struct crash_bug *b);

struct found;
struct found *found_new(const struct plan *p, const struct crash_setup *s);
void found_free(struct found *f);
/* Names a finding in one line: its source line, its kind, and how recovery ended. free() it. NULL:
 * it has no place, or one of the same place and kind was named before. */
char *found_text(struct found *f, const struct crash_bug *b);

#endif
