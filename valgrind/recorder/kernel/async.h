/* Records what a program writes with Linux AIO: io_submit and io_getevents. */
#ifndef REC_ASYNC_H
#define REC_ASYNC_H

#include "valgrind/recorder/out/basics.h"

void async_after(ThreadId tid, UInt number, const UWord *args, UWord n); /* n: result of the call */

#endif
