/* Reports comparisons of words, and what functions find out about words. */
#ifndef TRACER_TOKEN_H
#define TRACER_TOKEN_H

#include "pub_tool_basics.h"

/* Makes what a function found out about a word (8 bytes at `result`) a symbol of its own: the
 * result can differ only if the word does. */
void token_measured(UInt kind, Addr word, ULong nbytes, Addr result);
/* Reports two strings that differ, of which max bytes count. */
void token_compared(ThreadId tid, Addr a, Addr b, ULong max);

#endif
