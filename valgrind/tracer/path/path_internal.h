/* What the files that write the path file share. Each file uses only those before it: file.c,
 * context.c and expressions.c, path.c. */
#ifndef TRACER_PATH_INTERNAL_H
#define TRACER_PATH_INTERNAL_H

#include "valgrind/tracer/path/path.h"

/* ---- file.c ---- */
Bool path_is_open(void);
void path_record(struct pmp_record r, const void *bytes, SizeT nbytes);
void path_flush(void);

/* ---- context.c: objects and call stacks ---- */
void path_object(Addr pc); /* writes the object of pc, if it is new */
void path_stack(void);     /* writes the call stack of the running thread, if it has changed */

/* ---- expressions.c ---- */
void path_expr(UInt id); /* writes an expression and its operands, unless they are written */

#endif
