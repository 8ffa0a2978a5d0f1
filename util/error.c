/* Formats error messages, and ends pmend after a bug of its own. A message that is too long is
 * cut. */
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int error_set(struct error *err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(err->msg, sizeof err->msg, fmt, args);
	va_end(args);
	return -1;
}

_Noreturn void bug(const char *file, int line, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "pmend: bug at %s:%d: ", file, line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}
