/* Quotes words for a shell, and splits a line as a shell does. A word that needs no quotes gets
 * none, because people read these commands. */
#include "util/shell_word.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

void shell_words_print(char *const *words, FILE *out)
{
	for (char *const *w = words; *w; w++) {
		char *quoted = shell_word(*w);

		fprintf(out, " %s", quoted);
		free(quoted);
	}
}

bool shell_word_split(const char **at, char *out)
{
	const char *p = *at;
	char quote = 0;

	for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
		if (quote ? *p == quote : *p == '\'' || *p == '"') {
			quote = quote ? 0 : *p;
		} else if (*p == '\\' && quote != '\'') {
			if (!p[1])
				return false;
			if (quote && !strchr("\\\"$`", p[1]))
				*out++ = '\\';
			*out++ = *++p;
		} else {
			*out++ = *p;
		}
	}
	*out = 0;
	*at = p;
	return !quote;
}

char **shell_words_split(const char *line)
{
	char **words = xcalloc(strlen(line) + 2, sizeof *words);
	size_t n = 0;

	for (;;) {
		while (isspace((unsigned char)*line))
			line++;
		if (!*line && n > 0)
			return words;
		words[n] = xmalloc(strlen(line) + 1);
		if (!*line || !shell_word_split(&line, words[n++]))
			break;
	}
	for (size_t i = 0; words[i]; i++)
		free(words[i]);
	free(words);
	return NULL;
}
