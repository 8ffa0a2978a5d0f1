/* Shows the program the limit of open files (RLIMIT_NOFILE) that it would have without Valgrind. */
#ifndef VG_OPEN_FILES_H
#define VG_OPEN_FILES_H

#include "pub_tool_basics.h"

/* Reads --open-files=N: the program's soft limit, before pmend raised it for Valgrind. False: arg
 * is another option. */
Bool open_files_option(const HChar *arg);

/* open_files_before() and open_files_after() are called around each system call. */
void open_files_before(UInt number, const UWord *args);
void open_files_after(UInt number, const UWord *args, SysRes result);

#endif
