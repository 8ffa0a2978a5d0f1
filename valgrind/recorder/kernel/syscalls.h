/* Follows the system calls of the program that concern PM and its files. */
#ifndef REC_SYSCALLS_H
#define REC_SYSCALLS_H

#include "valgrind/recorder/out/basics.h"

extern UInt g_nthreads; /* threads that are alive */
/* set when the program calls exit; -1 before that, and if a signal kills it */
extern Int g_exit_status;
void syscalls_before(ThreadId tid, UInt number, UWord *args, UInt nargs);
void syscalls_after(ThreadId tid, UInt number, UWord *args, UInt nargs, SysRes result);
/* Gives how many bytes the kernel really wrote of those that Valgrind reports. */
SizeT syscalls_written(ThreadId tid, Addr a, SizeT len);

#endif
