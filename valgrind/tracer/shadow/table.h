/* Loads from an address that depends on the input. */
#ifndef TRACER_TABLE_H
#define TRACER_TABLE_H

#include "valgrind/tracer/value/value.h"

/* False: not one that can be tabulated */
Bool table_load(struct val address, UInt bits, ULong noted, struct val *result);

#endif
