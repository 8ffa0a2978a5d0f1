/* Functions return -1, and every call is tested. A file and a folder are not synced. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int sync_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return -1;
	if (fsync(fd) < 0) {
		close(fd);
		return -1;
	}
	return close(fd);
}

static int begin_log(const char *dir)
{
	char path[300];
	int fd;

	snprintf(path, sizeof path, "%s/log", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd < 0)
		return -1;
	if (fsync(fd) < 0) {
		close(fd);
		return -1;
	}
	if (sync_dir(dir) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int save(const char *dir, const char *text)
{
	char path[300], tmp[300];
	size_t n = strlen(text);
	int fd;

	snprintf(path, sizeof path, "%s/table", dir);
	snprintf(tmp, sizeof tmp, "%s/table.tmp", dir);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return -1;
	if (write(fd, text, n) != (ssize_t)n) {
		close(fd);
		return -1;
	}
	if (fsync(fd) < 0) {
		close(fd);
		return -1;
	}
	if (close(fd) < 0)
		return -1;
	if (rename(tmp, path) < 0)
		return -1;
	return sync_dir(dir);
}

static int append(int fd, const char *text)
{
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

static int make_index(const char *dir)
{
	char path[300];
	int fd;

	snprintf(path, sizeof path, "%s/index", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0)
		return -1;
	if (sync_dir(dir) < 0) {
		close(fd);
		return -1;
	}
	if (append(fd, "0 1 2\n") < 0) {
		close(fd);
		return -1;
	}
	if (fsync(fd) < 0) {
		close(fd);
		return -1;
	}
	return close(fd);
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 2 || (fd = begin_log(argv[1])) < 0)
		return 2;
	if (save(argv[1], "one") < 0 || save(argv[1], "two") < 0)
		return 1;
	if (append(fd, "saved\n") < 0)
		return 1;
	if (fsync(fd) < 0)
		return 1;
	puts("saved");
	if (make_index(argv[1]) < 0)
		return 1;
	return close(fd) < 0;
}
