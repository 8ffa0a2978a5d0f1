/* Calls with which a process stores to memory, its own or another one's, and that Valgrind does not
 * report. */
#ifndef REC_INTO_H
#define REC_INTO_H

#include "valgrind/recorder/out/basics.h"

void into_after(ThreadId tid, UInt number, const UWord *args, UWord n); /* n: result of the call */
/* Records n bytes that were written to a descriptor at an offset. False: it is not the memory of a
 * process. */
Bool into_written(ThreadId tid, Int fd, ULong offset, SizeT n);

#endif
