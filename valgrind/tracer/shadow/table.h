/* Handles loads whose address depends on the input. */
#ifndef TRACER_TABLE_H
#define TRACER_TABLE_H

#include "valgrind/tracer/value/value.h"

/* Loads `bits` from a symbolic address as a table lookup. False if that is impossible. */
Bool table_load(struct val address, UInt bits, ULong noted, struct val *result);

#endif
