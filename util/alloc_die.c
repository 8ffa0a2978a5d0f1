/* The end of pmend when memory is out. It needs none itself, and stands apart from alloc.c because
 * cmd/memory.c, whose malloc() that calls, ends here, too. */
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/alloc.h"

#define STATUS_FAILED 3 /* CMD_FAILED */

/* What standard output still holds may be the parent's, in a process that was forked. What is done
 * at the end may need memory, too. */
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
