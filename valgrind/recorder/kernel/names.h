/* Follows calls that make, remove or rename files. Each call is looked at before it is made, and
 * written to the trace after it, if it succeeded. */
#ifndef REC_NAMES_H
#define REC_NAMES_H

#include "valgrind/recorder/out/basics.h"

void names_before_open(ThreadId tid, Int dirfd, UWord path, UInt flags);
void names_after_open(ThreadId tid, Int fd);
void names_before_remove(ThreadId tid, Int dirfd, UWord path);
void names_after_remove(ThreadId tid, Int dirfd, UWord path);
void names_before_truncate(ThreadId tid, UWord path);
void names_after_truncate(ThreadId tid, UWord path);
void names_before_rename(ThreadId tid, Int from_fd, UWord from, Int to_fd, UWord to, UInt flags);
void names_after_rename(ThreadId tid, Int from_fd, UWord from, Int to_fd, UWord to, UInt flags);
void names_before_link(ThreadId tid, Int dirfd, UWord path);
void names_after_make(ThreadId tid, Int dirfd, UWord path, Bool is_link);

#endif
