/* A file that is written completely or not at all: under a temporary name in the same folder, then
 * renamed. */
#ifndef UTIL_WHOLE_FILE_H
#define UTIL_WHOLE_FILE_H

#include <stdio.h>

#include "util/error.h"

struct whole_file {
	FILE *out; /* write here: it is memory */
	/* inside */
	const char *path; /* borrowed */
	char *text;
	size_t len_bytes;
};

/* Can a file be written there? -1 with err if not. Makes nothing. */
int whole_file_check(const char *path, struct error *err);
void whole_file_begin(struct whole_file *w, const char *path);
/* What was written becomes the file, with the permissions of the one that it replaces. -1 with err:
 * what was there before is unchanged. A pipe or a device is written to as it is. */
int whole_file_end(struct whole_file *w, struct error *err);

#endif
