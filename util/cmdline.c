/* Reads /proc/PID/cmdline for a message. Characters that are not printable become question
 * marks. */
#include "util/cmdline.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"

enum { LONGEST = 200 };

static size_t words_read(pid_t pid, char *text, size_t room)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, room - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

char *cmdline_of(pid_t pid, bool (*is_hidden)(const char *word, unsigned number))
{
	char text[8192], shown[LONGEST + 1];
	size_t n = words_read(pid, text, sizeof text), at = 0, out = 0;

	for (unsigned i = 0; is_hidden && at < n && is_hidden(text + at, i); i++)
		at += strlen(text + at) + 1;
	for (; at < n && out < LONGEST; at++)
		shown[out++] = text[at] == '\0'                   ? ' '
			       : text[at] < ' ' || text[at] > '~' ? '?'
								  : text[at];
	while (out > 0 && shown[out - 1] == ' ')
		out--;
	shown[out] = '\0';
	return out ? xasprintf("%s (process %d)", shown, (int)pid)
		   : xasprintf("process %d", (int)pid);
}
