/* Gives memory to the tool itself. */
#ifndef VG_MEMORY_H
#define VG_MEMORY_H

#include "pub_tool_basics.h"

/* Gives whole pages of zeros. Ends the program with a message if there are none (ulimit -v). */
void *memory_alloc(SizeT len_bytes);

#endif
