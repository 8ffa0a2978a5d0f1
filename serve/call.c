/* Defines serve_call() for pmend's own processes: makes system calls through the C library. The
 * runtime defines it in another way (runtime/serve_call.c). */
#include "serve/call.h"

#include <errno.h>
#include <unistd.h>

long serve_call(long number, long a, long b, long c, long d, long e, long f)
{
	long r = syscall(number, a, b, c, d, e, f);

	return r < 0 ? -errno : r;
}
