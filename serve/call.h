/* Declares serve_call(), with which the code that serves runs makes system calls. Part of that code
 * runs inside the user's program: it calls no function of the C library, which the program may
 * replace and the runtime may have changed, and allocates no memory but its own. Each program
 * defines serve_call(): call.c for pmend, runtime/serve_call.c for the runtime. */
#ifndef SERVE_CALL_H
#define SERVE_CALL_H

#include <sys/syscall.h>

long serve_call(long number, long a, long b, long c, long d, long e, long f); /* returns -errno */

#define SERVE_CALL0(n) serve_call(n, 0, 0, 0, 0, 0, 0)
#define SERVE_CALL1(n, a) serve_call(n, (long)(a), 0, 0, 0, 0, 0)
#define SERVE_CALL2(n, a, b) serve_call(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define SERVE_CALL3(n, a, b, c) serve_call(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SERVE_CALL4(n, a, b, c, d) serve_call(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SERVE_CALL5(n, a, b, c, d, e) \
	serve_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define SERVE_CALL6(n, a, b, c, d, e, f) \
	serve_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#endif
