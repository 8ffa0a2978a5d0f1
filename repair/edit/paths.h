/* Asks whether a path is below a folder, and which part is. All paths are absolute; a folder has no
 * slash at its end, except for "/". */
#ifndef REPAIR_EDIT_PATHS_H
#define REPAIR_EDIT_PATHS_H

#include <stdbool.h>

bool path_is_below(const char *path, const char *folder);
/* Returns the part of a path below the folder. */
const char *path_from(const char *path, const char *folder);

#endif
