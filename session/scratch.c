/* A folder for files of our own, copies of files, paths. A scratch folder is not removed at exit: whoever made it removes it. */
#include "session/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "util/alloc.h"

char *scratch_folder(struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	char *folder = xasprintf("%s/pmend-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (mkdtemp(folder))
		return folder;
	error_set(err, "cannot make a folder %s: %s; set TMPDIR", folder, strerror(errno));
	free(folder);
	return NULL;
}

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

int copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), result = -1;
	off_t left = in < 0 ? 0 : lseek(in, 0, SEEK_END), at = 0;

	if (in >= 0 && out >= 0) {
		while (at < left && sendfile(out, in, &at, (size_t)(left - at)) > 0)
			;
		result = at == left ? 0 : -1;
	}
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) < 0)
		result = -1;
	return result;
}
