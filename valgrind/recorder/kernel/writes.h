/* Calls that write to a descriptor: PM by way of its file, or output; and input, which output may
 * answer. */
#ifndef REC_WRITES_H
#define REC_WRITES_H

#include "valgrind/recorder/out/basics.h"

void writes_after(ThreadId tid, UInt number, UWord *args, UWord n); /* the call returned n */
/* n bytes were written to the descriptor's file, at the offset; rwf: RWF_ flags. Nothing, if it is
 * not PM. */
void writes_at(ThreadId tid, Int fd, ULong offset, SizeT n, ULong rwf);
/* What is written to the descriptor, with these flags, is durable when the call returns. */
Bool writes_sync(Int fd, ULong rwf);

#endif
