/* Questions about texts that several modules ask. */
#ifndef UTIL_STR_H
#define UTIL_STR_H

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Either may be NULL: both are, or both are the same text. */
static inline bool str_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The same, but what is not known (NULL) equals nothing. */
static inline bool str_same_known(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static inline bool str_begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* The last part of a path. */
static inline const char *str_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Of an identifier. */
static inline bool str_is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

#endif
