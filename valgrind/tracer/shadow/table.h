/* Handles loads whose address depends on the input. */
#ifndef TRACER_TABLE_H
#define TRACER_TABLE_H

#include "valgrind/tracer/value/value.h"

/* False if the load cannot be made a table lookup. */
Bool table_load(struct val address, UInt bits, ULong noted, struct val *result);

#endif
