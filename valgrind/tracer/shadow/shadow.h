/* Runs the steps of a block beside the machine. Instrumented code calls it. */
#ifndef TRACER_SHADOW_H
#define TRACER_SHADOW_H

#include "valgrind/tracer/shadow/step.h"

extern ULong g_progress; /* how many segments of the running block were run */
VG_REGPARM(1) void shadow_run(struct segment *s);

struct jump { /* an indirect jump: its place, and where it went last */
	Addr pc, last;
};
VG_REGPARM(2) void shadow_jump(struct jump *j, Addr to);

#endif
