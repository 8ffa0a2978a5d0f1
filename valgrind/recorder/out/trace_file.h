/* The trace file: its descriptor, and blocks for it. Negative results are errors. */
#ifndef REC_TRACE_FILE_H
#define REC_TRACE_FILE_H

#include "valgrind/recorder/out/basics.h"

Int trace_file_open(void); /* the descriptor; opened again when the program managed to close it */
Long trace_file_allocate(Int fd, ULong offset, SizeT len_bytes); /* zeros there, for which there is room on the disk */

#endif
