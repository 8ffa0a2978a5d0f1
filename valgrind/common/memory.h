/* Memory of a tool's own. */
#ifndef VG_MEMORY_H
#define VG_MEMORY_H

#include "pub_tool_basics.h"

/* Whole pages of zeros. Ends the program with a message where there are none left: ulimit -v, or
 * memory that the kernel promises only once. */
void *memory_alloc(SizeT len_bytes);

#endif
