/* Copies files, makes the folders for them, and makes paths absolute. */
#ifndef UTIL_FILES_H
#define UTIL_FILES_H

#include <stdbool.h>
#include <stdlib.h>

#include "util/alloc.h"
#include "util/error.h"

/* Gives the path below the current folder, without following links; free() it. NULL with err if the
 * current folder is unknown. */
char *path_absolute(const char *path, struct error *err);
/* Gives realpath(path), or a copy of path if no such file exists. free() it. */
static inline char *path_real_or_same(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : xstrdup(path);
}

bool is_trace_name(const char *name);            /* whether it ends with .pmt */
int copy_file(const char *from, const char *to); /* -1 with errno */

/* What pmend leaves in the user's folder, unless the user named another place. */
#define OUT_FOLDER "pmend-out"
/* Makes the folder that the path is in, unless it exists. Errors are ignored: whoever writes the
 * file afterwards fails and says why. */
void folder_make_for(const char *path);
/* Makes the folder that `to` is in, and copies the file. -1 with errno. */
int copy_file_to_out(const char *from, const char *to);

/* Gives realpath(folder/name), or "folder/name" itself if no such file exists. free() it. */
char *path_real(const char *folder, const char *name);

#endif
