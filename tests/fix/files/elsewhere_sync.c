/* The functions that sync, in a file of their own. */
#include "elsewhere.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <unistd.h>

int durable(int fd)
{
	while (fsync(fd) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

int durable_parent(const char *path)
{
	char copy[300];
	int fd, err;

	snprintf(copy, sizeof copy, "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return -errno;
	err = durable(fd);
	close(fd);
	return err;
}
