/* Accesses what all recorded processes share in the header of the trace: numbers of files, and a
 * lock. */
#ifndef REC_SHARED_H
#define REC_SHARED_H

#include "valgrind/recorder/out/basics.h"

/* Gives the file's number, which is the same in all recorded processes. A new file gets one. 0: the
 * table is full. */
UInt shared_file_id(ULong dev, ULong ino, Bool *is_new);
UInt shared_file_find(ULong dev, ULong ino); /* 0: not PM */
uint64_t *shared_file_size(UInt file);
void shared_file_forget(UInt file); /* the inode may be reused for another file */
/* Gives the number that a file had before it was forgotten; 0: no such file was forgotten. */
UInt shared_file_gone(ULong dev, ULong ino);
Bool shared_is_full(void);
Bool shared_has_files(void); /* is or was there PM, in any process? */
void shared_lock(void);      /* around a locked instruction on PM, if g_shared */
void shared_unlock(void);
UInt shared_bad_stack(void); /* counts a wrong stack, for --check-stacks */

#endif
