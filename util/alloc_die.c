/* Ends pmend when memory is out, without allocating any. It is not in alloc.c because cmd/memory.c,
 * which replaces malloc(), uses it too. */
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/alloc.h"

#define STATUS_FAILED 3 /* CMD_FAILED */

/* Drops what standard output still buffers: in a forked process that text may be the parent's.
 * Functions that run at exit may run out of memory again; then the process ends at once. */
_Noreturn void alloc_die(void)
{
	static bool g_is_ending;

	if (g_is_ending)
		_exit(STATUS_FAILED);
	g_is_ending = true;
	fputs("pmend: out of memory; free some, or raise the limit (ulimit -v)\n", stderr);
	__fpurge(stdout);
	exit(STATUS_FAILED);
}
