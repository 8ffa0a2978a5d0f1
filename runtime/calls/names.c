/* Works on paths as text: splits off the last component, and replaces a symbolic link in a path by
 * the link's target. */
#include <sys/stat.h>
#include <string.h>

#include "calls.h"

const char *name_split(char *path, const char **folder)
{
	char *slash = strrchr(path, '/');

	if (!slash) {
		*folder = ".";
		return path;
	}
	if (!slash[1])
		return NULL;
	*folder = slash == path ? "/" : path;
	*slash = 0;
	return slash + 1;
}

bool name_follow(char *path, const char *target)
{
	char *slash = strrchr(path, '/');
	const size_t folder = slash && target[0] != '/' ? (size_t)(slash - path) + 1 : 0;

	if (folder + strlen(target) >= ROOT_PATH_ROOM)
		return false;
	strcpy(path + folder, target);
	return true;
}

__attribute__((noinline)) bool name_follow_link(long dirfd, char *path)
{
	char target[ROOT_PATH_ROOM];
	const long n = CALL4(SYS_readlinkat, dirfd, path, target, sizeof(target) - 1);

	if (n <= 0)
		return false;
	target[n] = 0;
	return name_follow(path, target);
}
