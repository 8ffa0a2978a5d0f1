/* Makes the command of --then: what the program does after recovery. */
#ifndef CRASH_SETUP_THEN_RECORDED_H
#define CRASH_SETUP_THEN_RECORDED_H

#include "crash/setup/crash_setup.h"

/* Makes the command of `--then recorded`, and checks that {op} and {rest:FILE} have a meaning for
 * this trace. -1 with err if they have none. */
int then_recorded_fit(struct crash_setup *s, const struct plan *p, struct error *err);

#endif
