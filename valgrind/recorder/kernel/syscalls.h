/* System calls of the program. */
#ifndef REC_SYSCALLS_H
#define REC_SYSCALLS_H

#include "valgrind/recorder/out/basics.h"

extern UInt g_nthreads; /* that live */
/* set when the program calls exit; -1 before, and when a signal kills it */
extern Int g_exit_status;
void syscalls_before(ThreadId tid, UInt number, UWord *args, UInt nargs);
void syscalls_after(ThreadId tid, UInt number, UWord *args, UInt nargs, SysRes result);
/* how much of what Valgrind takes for written there was */
SizeT syscalls_written(ThreadId tid, Addr a, SizeT len);

#endif
