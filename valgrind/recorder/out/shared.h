/* What all recorded processes share, in the header of the trace. */
#ifndef REC_SHARED_H
#define REC_SHARED_H

#include "valgrind/recorder/out/basics.h"

/* the same in all recorded processes; 0: table full */
UInt shared_file_id(ULong dev, ULong ino, Bool *is_new);
UInt shared_file_find(ULong dev, ULong ino); /* 0: not PM */
uint64_t *shared_file_size(UInt file);
void shared_file_forget(UInt file);          /* the inode may be used again for another file */
UInt shared_file_gone(ULong dev, ULong ino); /* a file that was forgotten; 0: no such file */
Bool shared_is_full(void);
Bool shared_has_files(void); /* there is or was PM, in some process */
void shared_lock(void);      /* around a locked instruction on PM, when g_shared */
void shared_unlock(void);
UInt shared_bad_stack(void); /* counts one, for --check-stacks */

#endif
