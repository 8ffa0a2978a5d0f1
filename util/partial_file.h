/* Writes a large file that gets its name only when it is complete. */
#ifndef UTIL_PARTIAL_FILE_H
#define UTIL_PARTIAL_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct partial_file {
	int fd; /* may be read, too */
	/* private to partial_file.c */
	const char *file; /* borrowed */
	char *partial;
	bool has_name;
	struct sigaction before;
};

/* Begins to write. -1 with err if the file cannot be made. Until partial_file_end(), SIGXFSZ is
 * ignored: a write beyond the limit on file sizes fails with EFBIG and sends no signal. */
int partial_file_begin(struct partial_file *p, const char *file, struct error *err);
/* Appends the bytes. -1 with errno. */
int partial_file_write(const struct partial_file *p, const void *bytes, size_t len_bytes);
/* Gives the file its name if it is_whole, replacing any file of that name; otherwise drops it. -1
 * with err if it cannot be named. */
int partial_file_end(struct partial_file *p, bool is_whole, struct error *err);

#endif
