/* Copies files and makes paths absolute. A copy is written under another name and renamed, so a
 * copy that fails leaves nothing behind. */
#include "util/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/alloc.h"

char *path_absolute(const char *path, struct error *err)
{
	char cwd[PATH_MAX];

	if (path[0] == '/')
		return xstrdup(path);
	if (!getcwd(cwd, sizeof cwd)) {
		error_set(err, "cannot find the current folder: %s", strerror(errno));
		return NULL;
	}
	while (path[0] == '.' && path[1] == '/')
		for (path += 2; *path == '/'; path++)
			;
	return xasprintf("%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd, path);
}

bool is_trace_name(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && strcmp(name + len - 4, ".pmt") == 0;
}

static int copy_bytes(int in, int out)
{
	off_t left = lseek(in, 0, SEEK_END), at = 0;

	while (at < left && sendfile(out, in, &at, (size_t)(left - at)) > 0)
		;
	return at == left ? 0 : -1;
}

int copy_file(const char *from, const char *to)
{
	char *partial = xasprintf("%s.%d.partial", to, getpid());
	int in = open(from, O_RDONLY | O_CLOEXEC),
	    out = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), result = -1, why;

	if (in >= 0 && out >= 0)
		result = copy_bytes(in, out);
	why = errno;
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) < 0 && result == 0)
		result = -1, why = errno;
	if (result == 0 && (result = rename(partial, to)) < 0)
		why = errno;
	if (result < 0 && out >= 0)
		unlink(partial);
	free(partial);
	errno = why;
	return result;
}

void folder_make_for(const char *path)
{
	char *folder = xstrdup(path), *slash = strrchr(folder, '/');

	if (slash) {
		*slash = '\0';
		mkdir(folder, 0777);
	}
	free(folder);
}

int copy_file_to_out(const char *from, const char *to)
{
	folder_make_for(to);
	return copy_file(from, to);
}

char *path_real(const char *folder, const char *name)
{
	char *path = name[0] == '/' ? xstrdup(name) : xasprintf("%s/%s", folder, name),
	     *real = realpath(path, NULL);

	if (!real)
		return path;
	free(path);
	return real;
}
