/* Finds the project file. The file runs commands, so its owner matters: a folder of another user,
 * or a file that others can write, must not make pmend run anything. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/project/file.h"
#include "util/alloc.h"

#define FILE_MAX_BYTES ((size_t)16 << 20)

/* Is a file system mounted here? Old kernels do not say, so then the device is compared with that
 * of the folder above. */
static bool is_mount(const char *folder, const struct stat *here)
{
	struct statx x;
	struct stat above;
	char *parent = xasprintf("%s/..", folder);
	bool is_other = stat(parent, &above) < 0 || above.st_dev != here->st_dev;

	free(parent);
	return is_other || (statx(AT_FDCWD, folder, 0, STATX_BASIC_STATS, &x) == 0 &&
			    (x.stx_attributes_mask & x.stx_attributes & STATX_ATTR_MOUNT_ROOT));
}

static bool is_home(const struct stat *here)
{
	const char *home = getenv("HOME");
	struct stat st;

	return home && stat(home, &st) == 0 && st.st_dev == here->st_dev &&
	       st.st_ino == here->st_ino;
}

static bool has(const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);
	struct stat st;
	bool is_there = lstat(path, &st) == 0;

	free(path);
	return is_there;
}

/* Finds the first folder that has the file; NULL: none. free() it. */
static char *folder_find(void)
{
	char *folder = getcwd(NULL, 0), *end;
	struct stat first, here;

	if (!folder || folder[0] != '/' || stat(folder, &first) < 0)
		goto none;
	for (here = first; here.st_uid == first.st_uid;) {
		if (has(folder, PROJECT_FILE))
			return folder;
		if (!folder[1] || has(folder, ".git") || is_home(&here) || is_mount(folder, &here))
			goto none;
		end = strrchr(folder, '/');
		end[end == folder] = '\0';
		if (stat(folder, &here) < 0)
			goto none;
	}
none:
	free(folder);
	return NULL;
}

static int check_trust(const struct project_file *p, const struct stat *st, struct error *err)
{
	const char *why = !S_ISREG(st->st_mode) ? "it is not a file"
			  : st->st_uid != geteuid() && st->st_uid != 0
				  ? "it belongs to another user"
			  : st->st_mode & (S_IWGRP | S_IWOTH) ? "others may write it (chmod go-w)"
							      : NULL;
	struct stat folder;

	if (!why && stat(p->folder, &folder) == 0 && (folder.st_mode & S_IWOTH) &&
	    !(folder.st_mode & S_ISVTX))
		why = "others may replace it (chmod o-w the folder)";
	if (!why)
		return 0;
	return error_set(
		err, "%s runs commands, and %s; make it yours, or leave it out with --no-project",
		p->path, why);
}

static int file_read(struct project_file *p, struct error *err)
{
	int fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), status = -1;
	char *text = NULL;
	size_t len = 0;
	ssize_t n = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		error_set(err, "cannot read %s: %s", p->path, strerror(errno));
		goto out;
	}
	if (check_trust(p, &st, err) < 0)
		goto out;
	if ((size_t)st.st_size > FILE_MAX_BYTES) {
		error_set(err, "%s is larger than 16 MiB: it is no project file", p->path);
		goto out;
	}
	text = xmalloc((size_t)st.st_size + 1);
	while (len < (size_t)st.st_size && (n = read(fd, text + len, (size_t)st.st_size - len)) > 0)
		len += (size_t)n;
	status = n < 0 ? error_set(err, "cannot read %s: %s", p->path, strerror(errno))
		       : project_file_parse(p, text, len, err);
out:
	if (fd >= 0)
		close(fd);
	free(text);
	return status;
}

int project_file_find(struct project_file *p, struct error *err)
{
	*p = (struct project_file){ .folder = folder_find() };
	if (!p->folder)
		return 0;
	p->path = xasprintf("%s%s" PROJECT_FILE, p->folder, p->folder[1] ? "/" : "");
	return file_read(p, err);
}
