/* A process that puts files back when this one ends. */
#ifndef POOLS_GUARDIAN_H
#define POOLS_GUARDIAN_H

#include <stdbool.h>
#include <sys/stat.h>

#include "util/error.h"

enum guardian_message {
	/* the file is to be put back from its other name, be it moved there now or copied before */
	GUARDIAN_MOVE = 'm',
	/* a copy is made under the other name: it goes in the end, unless GUARDIAN_MOVE follows; if
	 * we are killed, it stays when the file has changed */
	GUARDIAN_COPY = 'c',
};

/* Its socket. -1 with err: it cannot be started. It is not a child of ours: whoever waits for all
 * children of a recording must not wait for it. */
int guardian_start(struct error *err);
/* Returns when it knows. */
int guardian_tell(int guardian, enum guardian_message what, const char *path, const char *aside,
		  struct error *err);
/* Returns when all files are back. -1: one is not, and the error says where it is. Not in order:
 * copies of files that have changed stay. */
int guardian_end(int guardian, bool is_in_order, struct error *err);

/* Content, mode, owner and times of an open file, under another name. */
int guardian_copy(int in, const char *path);
/* Gives a file these back from its copy. 0: it is the file that was there before; 1: that is gone,
 * and it is a new one. */
int guardian_rewind(const char *copy, const char *path, const struct stat *before);

#endif
