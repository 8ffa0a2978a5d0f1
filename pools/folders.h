/* Keeps what folders hold, so that a program can be run on it several times. The user's own files
 * are moved aside (FOLDER.pmend-PID beside the folder), and each run gets copies. */
#ifndef POOLS_FOLDERS_H
#define POOLS_FOLDERS_H

#include "util/error.h"
#include "util/values.h"

struct folders;

/* Moves the content of the folders aside. NULL with err if that is not possible, or if it could not
 * be copied exactly; then nothing has changed. */
struct folders *folders_begin(const struct word_list *names, struct error *err);
/* Makes the folders hold copies of what they held, and nothing else. */
int folders_fill(const struct folders *f, struct error *err);
/* Ends it; NULL is allowed. has_run: what the last run left stays, and what the folders held is
 * removed. Otherwise that comes back. -1 with the first failure. */
int folders_end(struct folders *f, bool has_run, struct error *err);

#endif
