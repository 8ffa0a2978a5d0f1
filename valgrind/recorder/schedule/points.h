/* Chooses where the running thread gives up the processor (--schedule). */
#ifndef REC_POINTS_H
#define REC_POINTS_H

#include "valgrind/common/ir.h"
#include "valgrind/recorder/out/basics.h"

enum point { POINT_LOAD, POINT_STORE, POINT_FLUSH, POINT_FENCE, POINT_LOCKED, POINT_CALL };

/* Notes a place OFFSET:PATH: an instruction of the object at PATH, by its offset in that file. */
Bool points_hold_store(const HChar *place);
Bool points_hold_load(const HChar *place);
void points_begin(void);
ULong points_count(void); /* how many there were while there was more than one thread */

/* Adds code for a point behind an instruction. guard: a condition, or NULL. */
void points_add(IRSB *sb, IRExpr *guard, enum point kind);
/* The same for an access to PM by the instruction at pc, which may be one where a thread is
 * held. */
void points_add_access(IRSB *sb, IRExpr *guard, enum point kind, Addr pc, IRExpr *addr, UInt size);
/* Is it code of the C library? It has many locked instructions that are nobody's protocol. */
Bool points_is_quiet(Addr pc);
/* Adds code for a point before the flush at pc, which leaves the block if the thread gives up
 * there. */
void points_add_before(IRSB *sb, Addr pc, Int ip_offset);
/* Adds code that leaves the block before the instruction at pc, if the thread gives up. */
void points_add_exit(IRSB *sb, Addr pc, Int ip_offset);
/* Handles a point at a call of the kernel: another thread may run when it returns. */
void points_call(void);
void points_run(void);      /* another thread runs, or the same one again */
void points_in_child(void); /* a process was forked, and this is it */
void points_ends(ThreadId tid);

#endif
