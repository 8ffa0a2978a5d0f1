/* Comparisons of words. */
#ifndef TRACER_TOKEN_H
#define TRACER_TOKEN_H

#include "pub_tool_basics.h"

/* What a function found out about these bytes, in the 8 bytes at `result`, becomes a symbol of its
 * own: it can be another only if the word is. */
void token_measured(UInt kind, Addr word, ULong nbytes, Addr result);
/* two strings that are not equal, of which max bytes count */
void token_compared(ThreadId tid, Addr a, Addr b, ULong max);

#endif
