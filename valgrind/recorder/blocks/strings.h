/* Records what string instructions (rep movs, rep stos) store. */
#ifndef REC_STRINGS_H
#define REC_STRINGS_H

#include "valgrind/recorder/place/code.h"

/* Adds an element at a PM address; `left` elements follow. */
void string_add(const struct code *c, ULong addr, const UChar *data, ULong left);
/* Lets the collected elements wait while another event is recorded for the same instruction.
 * Returns the argument for string_resume(). */
Bool string_suspend(Addr pc);
void string_resume(Bool was_waiting);

#endif
