/* Writes a small file completely or not at all. */
#ifndef UTIL_WHOLE_FILE_H
#define UTIL_WHOLE_FILE_H

#include <stdio.h>

#include "util/error.h"

struct whole_file {
	FILE *out; /* write here; it is memory */
	/* private to whole_file.c */
	const char *path; /* borrowed */
	char *text;
	size_t len_bytes;
};

/* Asks whether a file can be written at this path: 0, or -1 with err. Creates nothing. */
int whole_file_check(const char *path, struct error *err);
void whole_file_begin(struct whole_file *w, const char *path);
/* Makes what was written to `out` the content of the file. Keeps the old file's permissions.
 * Follows a symbolic link. Writes to a pipe or a device directly. -1 with err: the old file is
 * unchanged. */
int whole_file_end(struct whole_file *w, struct error *err);

#endif
