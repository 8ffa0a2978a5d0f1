/* Starts the guardian, a process that restores files when pmend ends, however it ends, and talks to
 * it. */
#ifndef POOLS_GUARDIAN_H
#define POOLS_GUARDIAN_H

#include <stdbool.h>
#include <sys/stat.h>

#include "util/error.h"

enum guardian_message {
	/* the file must be restored from its other name, whether it is moved there now or was
	 * copied before */
	GUARDIAN_MOVE = 'm',
	/* the file is copied to the other name. The copy is removed at the end, unless
	 * GUARDIAN_MOVE follows. If pmend is killed, the copy stays if the file has changed */
	GUARDIAN_COPY = 'c',
	/* entries of a folder are being moved to another folder, and must be moved back */
	GUARDIAN_FOLDER = 'f',
	/* all of them were moved: what the folder holds at the end is the program's, and is
	 * removed first */
	GUARDIAN_EMPTIED = 'x',
};

/* Starts the guardian and gives its socket. -1 with err. The guardian is not a child of pmend, so
 * code that waits for all children of a recording does not wait for it. */
int guardian_start(struct error *err);
/* Tells the guardian about a file. Returns when the guardian knows. */
int guardian_tell(int guardian, enum guardian_message what, const char *path, const char *aside,
		  struct error *err);
/* Ends the guardian; returns when it has restored all files. -1 with err, which says where a file
 * is that could not be restored. Unless is_in_order, copies of files that have changed stay. */
int guardian_end(int guardian, bool is_in_order, struct error *err);

/* Copies content, mode, owner and times of an open file to a path. */
int guardian_copy(int in, const char *path);
/* Gives a file its content, mode, owner and times back from its copy. 0: it is the same file; 1:
 * the file had gone, and this is a new one; -1: failed. */
int guardian_rewind(const char *copy, const char *path, const struct stat *before);

#endif
