/* What stock VEX lacks: instructions that it cannot decode, and their CPUID bits. The recorder has the same, and records them. */
#ifndef SYM_EXTRA_H
#define SYM_EXTRA_H

#include "valgrind/tracer/sym.h"

IRSB *extra_complete(IRSB *in); /* the block, or a better one */
Bool extra_is_call(Addr pc); /* of an instruction that VEX takes for a call: it comes back */

#endif
