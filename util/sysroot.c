/* Finds the files of an unpacked bundle below the folder that the environment names. The bundle's
 * libraries are in the folder "lib" beside that folder. */
#include "util/sysroot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pmend_run.h"
#include "util/alloc.h"

const char *sysroot(void)
{
	const char *root = getenv(RUN_ENV_ROOT);

	return root && root[0] == '/' ? root : NULL;
}

const char *sysroot_identity(void)
{
	return sysroot() ? getenv(SYSROOT_ENV_IDENTITY) : NULL;
}

static const char *after_root(const char *path)
{
	const char *root = sysroot();
	const size_t n = root ? strlen(root) : 0;

	return root && strncmp(path, root, n) == 0 && (path[n] == '/' || !path[n]) ? path + n
										   : NULL;
}

char *sysroot_path(const char *path)
{
	struct stat st;
	char *inside;

	if (!sysroot() || path[0] != '/' || after_root(path))
		return xstrdup(path);
	inside = xasprintf("%s%s", sysroot(), path);
	if (lstat(inside, &st) == 0)
		return inside;
	free(inside);
	return xstrdup(path);
}

const char *sysroot_own(const char *path)
{
	const char *own = after_root(path);

	return !own ? path : *own ? own : "/";
}

char *sysroot_libraries(const char *program)
{
	char *real = sysroot() ? realpath(program, NULL) : NULL, *text = NULL;
	const char *slash = real && after_root(real) ? strrchr(sysroot(), '/') : NULL;

	if (slash)
		text = xasprintf("LD_LIBRARY_PATH=%.*s/lib", (int)(slash - sysroot()), sysroot());
	free(real);
	return text;
}

char *sysroot_cwd(void)
{
	char *cwd = getcwd(NULL, 0), *own = cwd ? xstrdup(sysroot_own(cwd)) : NULL;

	free(cwd);
	return own;
}
