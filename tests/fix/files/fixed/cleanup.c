/* One way out of each function. What a segment held is removed before the table has it for sure. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool put(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n > 0) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		p += done;
		n -= (size_t)done;
	}
	return true;
}

static int flush_folder(void)
{
	int err = -1, fd = open(".", O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		goto out;
	if (fdatasync(fd) != 0)
		goto out;
	err = 0;
out:
	if (fd >= 0)
		close(fd);
	return err;
}

static int make_segment(const char *name)
{
	int err = -1, fd = open(name, O_WRONLY | O_CREAT, 0644);

	if (fd < 0)
		goto out;
	if (!put(fd, "row 1\n", 6))
		goto out;
	if (fdatasync(fd) != 0)
		goto out;
	err = flush_folder();
out:
	if (fd >= 0)
		close(fd);
	return err;
}

static int compact(const char *segment)
{
	int err = -1, fd = open("table", O_WRONLY | O_CREAT | O_APPEND, 0644);
	int rows = 2;

	if (fd < 0)
		goto out;
	if (flush_folder() != 0)
		goto out;
	for (int i = 0; i < rows; i++)
		if (!put(fd, "row 1\n", 6))
			goto out;
	if (!put(fd, "end\n", 4))
		goto out;
	if (fdatasync(fd) != 0)
		goto out;
	if (unlink(segment) < 0)
		goto out;
	err = flush_folder();
out:
	if (fd >= 0)
		close(fd);
	return err;
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]) < 0)
		return 2;
	if (make_segment("segment.1") != 0 || compact("segment.1") != 0)
		return 1;
	puts("compacted");
	return 0;
}
