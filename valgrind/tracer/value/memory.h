/* The shadow of memory. */
#ifndef TRACER_MEMORY_H
#define TRACER_MEMORY_H

#include "valgrind/tracer/value/value.h"

#define LINE_SHIFT 6
#define LINES (1u << 20)
/* nonzero: there may be symbolic bytes in this line of 64 bytes (modulo 64 MiB), or shortly behind
 * it */
extern UChar g_lines[LINES];
/* what it is, as the machine has that value there */
struct val mem_get(Addr a, UInt nbytes, ULong concrete);
void mem_put(Addr a, UInt nbytes, struct val v);
/* these bytes are the input's, from that index */
void mem_input(Addr a, SizeT len, ULong first_index);
void mem_forget(Addr a, SizeT len);
Bool mem_is_symbolic(Addr a, SizeT len);

#endif
