/* Paths and the folders that they are below. All are absolute, and folders have no slash at the
 * end, unless it is the root of all. */
#ifndef REPAIR_EDIT_PATHS_H
#define REPAIR_EDIT_PATHS_H

#include <stdbool.h>

bool path_is_below(const char *path, const char *folder);
/* of a path that is below it: the rest */
const char *path_from(const char *path, const char *folder);

#endif
