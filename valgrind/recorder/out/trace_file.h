/* The trace file: its descriptor, and blocks for it. Negative results are errors. */
#ifndef REC_TRACE_FILE_H
#define REC_TRACE_FILE_H

#include "valgrind/recorder/out/basics.h"

Int trace_file_open(void); /* the descriptor; opened again when the program managed to close it */
/* NULL: zeros, for which there is room on the disk */
Long trace_file_write(Int fd, ULong offset, const void *bytes, SizeT len_bytes);

#endif
