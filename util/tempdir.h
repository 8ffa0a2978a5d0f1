/* A folder for files of our own that goes away however we end. */
#ifndef UTIL_TEMPDIR_H
#define UTIL_TEMPDIR_H

#include "util/error.h"

struct tempdir {
	char *path; /* NULL: there is none */
	struct guardian *guardian;
};

/* Makes one in TMPDIR or /tmp. Forks a guardian, which removes the folder when this process closes
 * it, exits (which waits for that) or dies, of whatever. -1 if it cannot be made. */
int tempdir_open(struct tempdir *t, struct error *err);
/* Removes it with all that is in it. One that is not open may be closed. */
void tempdir_close(struct tempdir *t);
/* It stays; the path is the caller's to free. */
char *tempdir_keep(struct tempdir *t);

/* Removes a file, or a folder with all that is in it. */
void tree_remove(const char *path);

#endif
