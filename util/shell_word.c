/* Quotes words for a shell. What no shell changes stays as it is, for people read these commands. */
#include "util/shell_word.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"

static bool is_plain(const char *s)
{
	return *s &&
	       strspn(s,
		      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+,-{}") ==
		       strlen(s);
}

char *shell_word(const char *word)
{
	char *quoted, *at;

	if (is_plain(word))
		return xstrdup(word);
	at = quoted = xmalloc(4 * strlen(word) + 3);
	*at++ = '\'';
	for (; *word; word++)
		at += *word == '\'' ? sprintf(at, "'\\''") : (*at = *word, 1);
	strcpy(at, "'");
	return quoted;
}
