/* Small things that are done with files: a copy, a path. */
#ifndef UTIL_FILES_H
#define UTIL_FILES_H

#include <stdbool.h>
#include <stdlib.h>

#include "util/alloc.h"
#include "util/error.h"

/* free() it; NULL if the current folder is not known */
char *path_absolute(const char *path, struct error *err);
/* realpath(path), or a copy of it if there is none. free() it */
static inline char *path_real_or_same(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : xstrdup(path);
}

bool is_trace_name(const char *name);            /* ends with .pmt */
int copy_file(const char *from, const char *to); /* -1 with errno */

/* realpath(folder/name), or that text if there is no such file. free() it */
char *path_real(const char *folder, const char *name);

#endif
