/* --then: what the program does after recovery. */
#ifndef CRASH_SETUP_THEN_RECORDED_H
#define CRASH_SETUP_THEN_RECORDED_H

#include "crash/setup/crash_setup.h"

/* Makes the command of `--then recorded`, and sees to it that {op} and {rest:FILE} mean something
 * for this trace. -1 with err if they do not. */
int then_recorded_fit(struct crash_setup *s, const struct plan *p, struct error *err);

#endif
