/* Runs the steps of a block beside the machine. Called by instrumented code. */
#ifndef TRACER_SHADOW_H
#define TRACER_SHADOW_H

#include "valgrind/tracer/shadow/step.h"

extern ULong g_progress; /* segments of the running block that were run */
VG_REGPARM(1) void shadow_run(struct segment *s);

struct jump { /* an indirect one: where it is, and where it went last */
	Addr pc, last;
};
VG_REGPARM(2) void shadow_jump(struct jump *j, Addr to);

#endif
