/* Goes over the entries of folders, moves them, and removes them. */
#ifndef POOLS_ENTRIES_H
#define POOLS_ENTRIES_H

#include "util/error.h"

/* Calls each() for each entry of the folder `from`, with its path there and in `to`, until one
 * fails. Names are read before the first call. */
int entries_each(const char *from, const char *to,
		 int (*each)(const char *from, const char *to, struct error *err),
		 struct error *err);
/* Renames all entries of a folder into another one of the same file system. */
int entries_move(const char *from, const char *to, struct error *err);
/* Removes all entries of a folder, with what is in them. */
int entries_erase(const char *folder, struct error *err);

#endif
