/* Computes VEX's helper functions for condition codes on expressions. Each architecture has its own
 * file in arch/. */
#ifndef TRACER_FLAGS_H
#define TRACER_FLAGS_H

#include "valgrind/tracer/value/value.h"

#define FLAGS_ARGS_MAX 5
Bool flags_is_known(const HChar *name);
/* Computes the helper `name` on expressions. False if it, or its operands, are not supported. */
Bool flags_apply(const HChar *name, const struct val *args, struct val *result);

#endif
