/* What string instructions (rep movs, rep stos) store. */
#ifndef REC_STRINGS_H
#define REC_STRINGS_H

#include "valgrind/recorder/place/code.h"

/* After each element, at a PM address; left: how many follow. */
void string_add(const struct code *c, ULong addr, const UChar *data, ULong left);
/* Something else is recorded for the same instruction: what it stored may wait. Gives what
 * string_resume() takes. */
Bool string_suspend(Addr pc);
void string_resume(Bool was_waiting);

#endif
