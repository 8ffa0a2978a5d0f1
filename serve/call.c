/* System calls of pmend's own processes, through the C library. The runtime has another
 * implementation. */
#include "serve/call.h"

#include <errno.h>
#include <unistd.h>

long serve_call(long number, long a, long b, long c, long d, long e, long f)
{
	long r = syscall(number, a, b, c, d, e, f);

	return r < 0 ? -errno : r;
}
