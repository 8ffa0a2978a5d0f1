/* Stops the recorder before a system call changes a file that existed before the program began
 * (--stop-at-old). Each call is looked at before the kernel executes it. */
#ifndef REC_CHANGES_H
#define REC_CHANGES_H

#include "valgrind/recorder/out/basics.h"

/* Looks at a call before the kernel executes it. With --stop-at-old, does not return if the call
 * would change a file that existed before the program began. */
void changes_before(ThreadId tid, UInt number, const UWord *args);

#endif
