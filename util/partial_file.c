/* Writes a file that gets its name only when it is complete. Until then it has no name (O_TMPFILE),
 * so it disappears however pmend dies. A file system without O_TMPFILE gets a file
 * "NAME.PID.partial". */
#include "util/partial_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"

int partial_file_begin(struct partial_file *p, const char *file, struct error *err)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	char *copy = xstrdup(file);

	*p = (struct partial_file){ .file = file,
				    .partial = xasprintf("%s.%d.partial", file, getpid()) };
	p->fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
	free(copy);
	p->has_name = p->fd < 0;
	if (p->fd < 0)
		p->fd = open(p->partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (p->fd < 0) {
		error_set(err, "cannot write %s: %s", file, strerror(errno));
		free(p->partial);
		return -1;
	}
	sigaction(SIGXFSZ, &ignore, &p->before);
	return 0;
}

int partial_file_write(const struct partial_file *p, const void *bytes, size_t len_bytes)
{
	for (const char *at = bytes; len_bytes > 0;) {
		const ssize_t done = write(p->fd, at, len_bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		at += done;
		len_bytes -= (size_t)done;
	}
	return 0;
}

static int give_name(struct partial_file *p)
{
	char self[32];

	snprintf(self, sizeof self, "/proc/self/fd/%d", p->fd);
	if (!p->has_name && linkat(AT_FDCWD, self, AT_FDCWD, p->partial, AT_SYMLINK_FOLLOW) < 0)
		return -1;
	p->has_name = true;
	return rename(p->partial, p->file);
}

int partial_file_end(struct partial_file *p, bool is_whole, struct error *err)
{
	int result = 0;

	if (is_whole && give_name(p) < 0) {
		result = error_set(err, "cannot write %s: %s", p->file, strerror(errno));
		is_whole = false;
	}
	if (p->has_name && !is_whole)
		unlink(p->partial);
	close(p->fd);
	sigaction(SIGXFSZ, &p->before, NULL);
	free(p->partial);
	return result;
}
