/* Comparisons of words. */
#ifndef TRACER_TOKEN_H
#define TRACER_TOKEN_H

#include "pub_tool_basics.h"

void token_compared(ThreadId tid, Addr a, Addr b, ULong max); /* two strings that are not equal, of which max bytes count */

#endif
