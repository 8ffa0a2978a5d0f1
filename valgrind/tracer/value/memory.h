/* Reads and writes the shadow of memory: which bytes depend on the input, and how. */
#ifndef TRACER_MEMORY_H
#define TRACER_MEMORY_H

#include "valgrind/tracer/value/value.h"

#define LINE_SHIFT 6
#define LINES (1u << 20)
/* nonzero: this 64-byte line (modulo 64 MiB), or the one after it, may contain symbolic bytes */
extern UChar g_lines[LINES];
/* Reads nbytes bytes at address a. concrete: the value that the machine has there. */
struct val mem_get(Addr a, UInt nbytes, ULong concrete);
void mem_put(Addr a, UInt nbytes, struct val v);
/* Makes bytes symbolic: they are the bytes of the input from this index on. */
void mem_input(Addr a, SizeT len, ULong first_index);
void mem_forget(Addr a, SizeT len);
Bool mem_is_symbolic(Addr a, SizeT len);

#endif
