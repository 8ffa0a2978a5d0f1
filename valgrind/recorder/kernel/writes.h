/* Calls that write to a descriptor: PM by way of its file, or output; and input, which output may answer. */
#ifndef REC_WRITES_H
#define REC_WRITES_H

#include "valgrind/recorder/out/basics.h"

void writes_after(ThreadId tid, UInt number, UWord *args, UWord n); /* the call returned n */
#endif
