/* Compares paths as text. They were resolved before, so each file has only one path. */
#include "repair/edit/paths.h"

#include <string.h>

bool path_is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 &&
	       (path[len] == '/' || (len == 1 && folder[0] == '/'));
}

const char *path_from(const char *path, const char *folder)
{
	return path + strlen(folder) + (folder[1] != 0);
}
