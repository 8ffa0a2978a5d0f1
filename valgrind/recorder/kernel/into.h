/* Records stores that the kernel makes for a system call to the memory of the calling process or of
 * another one, and that Valgrind does not report. */
#ifndef REC_INTO_H
#define REC_INTO_H

#include "valgrind/recorder/out/basics.h"

void into_after(ThreadId tid, UInt number, const UWord *args, UWord n); /* n: result of the call */
/* Records n bytes that were written to a descriptor at an offset, if the descriptor is the memory
 * of a process (/proc/PID/mem). False: it is not. */
Bool into_written(ThreadId tid, Int fd, ULong offset, SizeT n);

#endif
