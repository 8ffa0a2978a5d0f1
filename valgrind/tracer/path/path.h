/* Writes the path file: what in the run depended on its input (include/pmpath.h describes the
 * records). */
#ifndef TRACER_PATH_H
#define TRACER_PATH_H

#include "valgrind/tracer/value/value.h"

#include "pmpath.h"

Bool path_open(const HChar *file);
void path_close(Int status);
void path_fork_child(void);
void path_branch(Addr pc, struct val condition, Addr went, Addr other);
/* Writes a condition that v has its present value, because v became concrete. */
void path_pin(Addr pc, struct val v, enum pmp_pin why);
void path_jump(Addr pc, Addr to);
void path_token(Addr pc, ULong index, UInt nbytes, const UChar *wanted, UInt nwanted);
void path_word(enum pmp_word kind, ULong at, ULong index, ULong nbytes, ULong value);
void path_cover(Addr pc, UInt nbytes);
void path_bad(Addr pc, ULong expression, ULong machine, IROp op, const HChar *name);
/* Notes a call. sp is the stack pointer after it. */
VG_REGPARM(2) void path_call(Addr ret, Addr sp);

#endif
