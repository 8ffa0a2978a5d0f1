/* The shadow of memory. */
#ifndef TRACER_MEMORY_H
#define TRACER_MEMORY_H

#include "valgrind/tracer/value/value.h"

#define LINE_SHIFT 6
#define LINES (1u << 20)
extern UChar g_lines
	[LINES]; /* nonzero: there may be symbolic bytes in this line of 64 bytes (modulo 64 MiB), or shortly behind it */
struct val mem_get(Addr a, UInt nbytes,
		   ULong concrete); /* what it is, as the machine has that value there */
void mem_put(Addr a, UInt nbytes, struct val v);
void mem_input(Addr a, SizeT len,
	       ULong first_index); /* these bytes are the input's, from that index */
void mem_forget(Addr a, SizeT len);
Bool mem_is_symbolic(Addr a, SizeT len);

#endif
