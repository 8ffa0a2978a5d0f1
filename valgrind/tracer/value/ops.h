/* Operations of VEX's intermediate representation, on values. */
#ifndef TRACER_OPS_H
#define TRACER_OPS_H

#include "valgrind/tracer/value/value.h"

Bool op_is_known(IROp op);
/* False: not one that we know, or not with these operands */
Bool op_apply(IROp op, const struct wide *args, struct wide *result);
Bool op_is_partial(IROp op); /* some operands it cannot do; then the machine's value is used */

#endif
