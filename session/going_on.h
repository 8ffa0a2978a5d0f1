/* --then: what the program does after recovery. */
#ifndef SESSION_GOING_ON_H
#define SESSION_GOING_ON_H

#include "session/crash_setup.h"

/* Makes the command of `--then recorded`, and sees to it that {op} and {rest:FILE} mean something for this trace. -1 with err if they do not. */
int going_on_fit(struct crash_setup *s, const struct plan *p, struct error *err);

#endif
