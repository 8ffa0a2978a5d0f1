/* Small things that are done with files: a copy, a path. */
#ifndef UTIL_FILES_H
#define UTIL_FILES_H

#include <stdbool.h>

#include "util/error.h"

/* free() it; NULL if the current folder is not known */
char *path_absolute(const char *path, struct error *err);
bool is_trace_name(const char *name);            /* ends with .pmt */
int copy_file(const char *from, const char *to); /* -1 with errno */

/* realpath(folder/name), or that text if there is no such file. free() it */
char *path_real(const char *folder, const char *name);

#endif
