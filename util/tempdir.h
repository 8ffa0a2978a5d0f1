/* Makes a scratch folder that is removed however pmend ends. */
#ifndef UTIL_TEMPDIR_H
#define UTIL_TEMPDIR_H

#include "util/error.h"

struct tempdir {
	char *path; /* NULL if it is not open */
	struct guardian *guardian;
};

/* Makes a folder in TMPDIR or /tmp and forks a guardian. The guardian removes the folder when this
 * process closes it, exits (which waits for the removal), or dies. -1 with err if that fails. */
int tempdir_open(struct tempdir *t, struct error *err);
/* Removes the folder with its content. Does nothing if it is not open. */
void tempdir_close(struct tempdir *t);
/* Keeps the folder; the caller frees the path. */
char *tempdir_keep(struct tempdir *t);

/* Removes a file, or a folder with all that is in it. */
void tree_remove(const char *path);

#endif
