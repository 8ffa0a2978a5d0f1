/* Opens the trace file, writes to it, and allocates blocks for it. Negative results are errors. */
#ifndef REC_TRACE_FILE_H
#define REC_TRACE_FILE_H

#include "valgrind/recorder/out/basics.h"

Int trace_file_open(void); /* the descriptor; opened again if the program closed it */
/* Writes bytes to the trace file. bytes NULL: writes zeros, and allocates their blocks. */
Long trace_file_write(Int fd, ULong offset, const void *bytes, SizeT len_bytes);

#endif
