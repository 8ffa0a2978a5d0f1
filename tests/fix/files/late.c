/* The old table is removed before the new one is durable; the sync comes too late. The folder of
 * the backup is not synced. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void sync_file(int fd)
{
	if (fdatasync(fd) != 0)
		abort();
}

static void sync_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		abort();
	sync_file(fd);
	close(fd);
}

static int table_new(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);

	if (fd < 0)
		abort();
	sync_file(fd);
	sync_folder(".");
	return fd;
}

static void put(int fd, const char *text)
{
	ssize_t n = write(fd, text, strlen(text));

	if (n != (ssize_t)strlen(text))
		abort();
}

int main(int argc, char **argv)
{
	int old, next;

	if (argc != 2 || chdir(argv[1]) < 0)
		return 2;
	old = table_new("table.1");
	put(old, "one\n");
	sync_file(old);
	next = table_new("table.2");
	put(next, "one\n");
	put(next, "two\n");
	if (unlink("table.1") < 0)
		return 1;
	sync_file(next);
	sync_folder(".");
	if (link("table.2", "backup") < 0)
		return 1;
	puts("backup");
	return 0;
}
