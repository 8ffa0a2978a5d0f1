/* Records calls of functions that synchronise threads (--threads). */
#ifndef REC_SYNC_H
#define REC_SYNC_H

#include "valgrind/recorder/out/basics.h"

#include "pub_tool_tooliface.h"

void sync_lock_call(const HChar *name); /* this function takes a lock, its first argument */
void sync_unlock_call(const HChar *name);
/* Adds code at the beginning of a function's first block, if the function synchronises threads. */
void sync_add_entry(IRSB *sb, Addr pc, const HChar *name);
/* Adds code at the end of a block that returns. top: the value of g_top. */
void sync_add_return(IRSB *sb, IRExpr *top);
void sync_annotated(ThreadId tid, enum pmt_kind kind, Addr object); /* a client request */

#endif
