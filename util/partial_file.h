/* A large file that gets its name when it is whole. */
#ifndef UTIL_PARTIAL_FILE_H
#define UTIL_PARTIAL_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct partial_file {
	int fd; /* for reading, too */
	/* inside */
	const char *file; /* borrowed */
	char *partial;
	bool has_name;
	struct sigaction before;
};

/* -1 with err: it cannot be written. Until the end, a file that becomes too large is an error, no
 * signal. */
int partial_file_begin(struct partial_file *p, const char *file, struct error *err);
/* -1 with errno. */
int partial_file_write(const struct partial_file *p, const void *bytes, size_t len_bytes);
/* is_whole: it gets its name, over a file that has it now; else it goes. -1 with err if it cannot
 * have it. */
int partial_file_end(struct partial_file *p, bool is_whole, struct error *err);

#endif
