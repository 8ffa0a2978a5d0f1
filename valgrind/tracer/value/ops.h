/* Applies operations of VEX's IR to values. */
#ifndef TRACER_OPS_H
#define TRACER_OPS_H

#include "valgrind/tracer/value/value.h"

Bool op_is_known(IROp op);
/* Computes an operation on expressions. False if it, or its operands, are not supported. */
Bool op_apply(IROp op, const struct wide *args, struct wide *result);
Bool op_is_partial(IROp op); /* cannot handle some operands; then the machine's value is used */

#endif
