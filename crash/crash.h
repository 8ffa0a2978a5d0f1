/* Explores the crashes of a recorded run: what `pmend crash` does, without options and messages. */
#ifndef CRASH_CRASH_H
#define CRASH_CRASH_H

#include "crash/findings/exploration.h"
#include "crash/search/state_text.h"
#include "crash/search/strategies.h"

int crash_explore(const struct plan *p, const struct crash_options *o, struct crash_result *r,
		  struct error *err);

#endif
