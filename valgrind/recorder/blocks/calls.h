/* Adds code for calls and returns of the program. */
#ifndef REC_CALLS_H
#define REC_CALLS_H

#include "valgrind/recorder/out/basics.h"

#include "pub_tool_tooliface.h"

void calls_add_call(IRSB *sb, Addr ret); /* at the end of a block that calls */
void calls_add_return(IRSB *sb);
/* after a statement that sets the stack pointer; sp is an atom */
void calls_add_set(IRSB *sb, IRExpr *sp);
void calls_add_entry(IRSB *sb, Addr pc); /* at the beginning of a block at pc */

#endif
