/* Nothing that arm64 needs. See extra.h. */
#include "valgrind/common/complete.h"

IRSB *extra_complete(IRSB *in)
{
	return in;
}

/* VEX says the same of b and bl. */
Bool extra_is_call(Addr pc)
{
	return *(const UInt *)pc >> 31;
}
