/* What the files of the path file share. Bottom first: file.c, context.c and expressions.c,
 * path.c. */
#ifndef TRACER_PATH_INTERNAL_H
#define TRACER_PATH_INTERNAL_H

#include "valgrind/tracer/path/path.h"

/* ---- file.c ---- */
Bool path_is_open(void);
void path_record(struct pmp_record r, const void *bytes, SizeT nbytes);
void path_flush(void);

/* ---- context.c: where code lies, and what called it ---- */
void path_object(Addr pc); /* tells of the object, the first time */
void path_stack(void);     /* of the running thread, when it is another one than last time */

/* ---- expressions.c ---- */
void path_expr(UInt id); /* with all that it is made of, if it is not written yet */

#endif
