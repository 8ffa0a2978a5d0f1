/* The program's own functions sync; they are in another file, and one takes the path of a file and
 * syncs its folder. Two of its operations forget them. */
#include "elsewhere.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct table {
	int fd;
	unsigned rows;
};

static int table_open(struct table *t, const char *path)
{
	int err;

	t->fd = open(path, O_RDWR | O_CREAT, 0644);
	if (t->fd < 0)
		return -errno;
	err = durable(t->fd);
	if (err)
		return err;
	return durable_parent(path);
}

static int table_add(struct table *t, const char *key, const char *value)
{
	struct iovec parts[] = { { (char *)key, strlen(key) }, { (char *)value, strlen(value) } };

	if (writev(t->fd, parts, 2) != (ssize_t)(parts[0].iov_len + parts[1].iov_len))
		return -EIO;
	if (durable(t->fd) != 0)
		return -EIO;
	t->rows++;
	return 0;
}

static int table_rename(const char *from, const char *to)
{
	if (rename(from, to) < 0)
		return -errno;
	if (durable_parent(to) != 0)
		return -errno;
	return 0;
}

int main(int argc, char **argv)
{
	char path[300], other[300];
	struct table t = { 0 };

	if (argc != 2)
		return 2;
	snprintf(path, sizeof path, "%s/new", argv[1]);
	snprintf(other, sizeof other, "%s/table", argv[1]);
	if (table_open(&t, path) < 0 || table_add(&t, "a=", "1\n") < 0)
		return 1;
	puts("added");
	if (table_rename(path, other) < 0)
		return 1;
	puts("renamed");
	return 0;
}
