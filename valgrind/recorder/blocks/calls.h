/* Adds code where the program calls and returns, which keeps the call stack. */
#ifndef REC_CALLS_H
#define REC_CALLS_H

#include "valgrind/recorder/out/basics.h"

#include "pub_tool_tooliface.h"

void calls_add_call(IRSB *sb, Addr ret); /* at the end of a block that calls */
void calls_add_return(IRSB *sb);
/* Adds code after a statement that sets the stack pointer. sp is an atom. */
void calls_add_set(IRSB *sb, IRExpr *sp);
void calls_add_entry(IRSB *sb, Addr pc); /* at the beginning of a block at pc */

#endif
