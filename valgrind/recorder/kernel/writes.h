/* Records calls that write to a descriptor: they change PM through its file, or are output. Also
 * records calls that read input, which output may answer. */
#ifndef REC_WRITES_H
#define REC_WRITES_H

#include "valgrind/recorder/out/basics.h"

void writes_after(ThreadId tid, UInt number, UWord *args, UWord n); /* n: result of the call */
/* Records n bytes that were written at the offset to the descriptor's file; rwf: RWF_ flags. Does
 * nothing if the file is not PM. */
void writes_at(ThreadId tid, Int fd, ULong offset, SizeT n, ULong rwf);
/* Asks whether data that is written to the descriptor with these flags is durable when the call
 * returns. */
Bool writes_sync(Int fd, ULong rwf);

#endif
