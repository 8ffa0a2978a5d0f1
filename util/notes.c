/* Formats messages and passes them to the listener. Their length is not limited, because names of
 * files may be long. */
#include "util/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void notes_say(const struct notes *n, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int len;

	if (!n)
		return;
	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	n->say(text, n->arg);
	free(text);
}

void notes_quote(const struct notes *n, const char *text, size_t len_bytes)
{
	if (n)
		n->quote(text, len_bytes, n->arg);
}
