/* Writes a small file completely or not at all: collects its content in memory, writes it to a
 * temporary file in the same folder, and renames that. A full disk, or the limit on file sizes
 * (SIGXFSZ is ignored meanwhile), leaves nothing behind. */
#include "util/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/files.h"

#define PARTIALS_MAX 1000u

static int cannot(struct error *err, const char *path)
{
	return error_set(err, "cannot write %s: %s", path, strerror(errno));
}

/* Is the file's folder writable? For a symbolic link, the folder of the file that it names. */
static bool has_folder(const char *path)
{
	char *copy = path_real_or_same(path), *folder = dirname(copy);
	bool is_writable = access(folder, W_OK | X_OK) == 0;

	free(copy);
	return is_writable;
}

int whole_file_check(const char *path, struct error *err)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return cannot(err, path);
	}
	return access(path, W_OK) == 0 || (errno == ENOENT && has_folder(path)) ? 0
										: cannot(err, path);
}

void whole_file_begin(struct whole_file *w, const char *path)
{
	*w = (struct whole_file){ .path = path };
	w->out = open_memstream(&w->text, &w->len_bytes);
	if (!w->out)
		alloc_die();
}

static int write_all(int fd, const char *text, size_t len_bytes)
{
	while (len_bytes > 0) {
		ssize_t n = write(fd, text, len_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		text += n;
		len_bytes -= (size_t)n;
	}
	return 0;
}

static int write_to(int fd, const struct whole_file *w)
{
	int result = fd < 0 ? -1 : write_all(fd, w->text, w->len_bytes), why = errno;

	if (fd >= 0 && close(fd) < 0 && result == 0)
		return -1;
	errno = why;
	return result;
}

static int write_in_place(const struct whole_file *w, const char *name)
{
	return write_to(open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), w);
}

/* Writes the content to a temporary file beside `name`, and renames that file to `name`. old: what
 * stat() says about the file that will be replaced; NULL if there is none. */
static int write_beside(const struct whole_file *w, const char *name, const struct stat *old)
{
	char *partial = NULL;
	int fd = -1, result, why;

	/* process numbers repeat in containers, so a killed pmend may have left this name */
	for (unsigned i = 0; fd < 0 && i < PARTIALS_MAX && (i == 0 || errno == EEXIST); i++) {
		free(partial);
		partial = xasprintf("%s.%d.%u.partial", name, getpid(), i);
		fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	if (fd >= 0 && old)
		fchmod(fd, old->st_mode & 07777);
	result = write_to(fd, w);
	if (result == 0)
		result = rename(partial, name);
	why = errno;
	if (result < 0 && fd >= 0)
		unlink(partial);
	free(partial);
	errno = why;
	return result;
}

int whole_file_end(struct whole_file *w, struct error *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	char *name = path_real_or_same(w->path);
	int result = -1;
	struct stat st;
	bool is_old;

	if (fclose(w->out) != 0)
		alloc_die();
	is_old = stat(name, &st) == 0;
	sigaction(SIGXFSZ, &ignore, &before);
	if (is_old && access(name, W_OK) < 0)
		; /* a read-only file is not replaced, although its folder is writable */
	else if (is_old && (!S_ISREG(st.st_mode) || !has_folder(name)))
		result = write_in_place(w, name);
	else
		result = write_beside(w, name, is_old ? &st : NULL);
	if (result < 0)
		cannot(err, w->path);
	sigaction(SIGXFSZ, &before, NULL);
	free(name);
	free(w->text);
	return result;
}
