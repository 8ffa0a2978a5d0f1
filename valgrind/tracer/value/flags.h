/* VEX's helper functions that compute condition codes, on values. Each processor has its own:
 * arch/. */
#ifndef TRACER_FLAGS_H
#define TRACER_FLAGS_H

#include "valgrind/tracer/value/value.h"

#define FLAGS_ARGS_MAX 5
Bool flags_is_known(const HChar *name);
/* False: not one that we know, or not with these operands */
Bool flags_apply(const HChar *name, const struct val *args, struct val *result);

#endif
