/* Writes the executable mappings of the program to the trace. */
#ifndef REC_OBJECTS_H
#define REC_OBJECTS_H

#include "valgrind/recorder/out/basics.h"

void objects_mapped(Addr a, SizeT len, Bool can_exec);
void objects_unmapped(Addr a, SizeT len);

#endif
