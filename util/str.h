/* Compares texts and finds parts of them, for several modules. */
#ifndef UTIL_STR_H
#define UTIL_STR_H

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Are the texts equal? NULL equals only NULL. */
static inline bool str_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Are the texts equal and known? NULL (unknown) equals nothing. */
static inline bool str_same_known(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static inline bool str_begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* Gives the last part of a path. */
static inline const char *str_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Gives the part of a path below a folder; the path itself if it is not below, or folder is
 * NULL. */
static inline const char *path_below(const char *path, const char *folder)
{
	size_t len = folder ? strlen(folder) : 0;

	while (len && folder[len - 1] == '/')
		len--;
	if (!len || strncmp(path, folder, len) != 0 || path[len] != '/')
		return path;
	while (path[len] == '/')
		len++;
	return path[len] ? path + len : path;
}

/* Asks whether the character can be part of an identifier of C. */
static inline bool str_is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

#endif
