/* Makes the system calls of serve/ in this library: through the gate, like all of ours. */
#include "serve/call.h"

#include "arch.h"

long serve_call(long number, long a, long b, long c, long d, long e, long f)
{
	return rt_syscall(number, a, b, c, d, e, f);
}
