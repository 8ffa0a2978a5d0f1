/* What `--files` follows: nothing here is mapped. run.py has the events that must be recorded, and that replaying them gives the
 * files as they are at the end. The folder "pools" has a file "old" and a folder "logs" with a file in it. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/recorder/expect.h"

static int make(const char *name, int flags)
{
	int fd = open(name, O_CREAT | flags, 0644);

	CHECK(fd >= 0);
	return fd;
}

/* All ways to write: ten bytes each. */
static void writes(void)
{
	struct iovec v[2] = { { "vector", 6 }, { "tail", 4 } };
	int fd = make("written", O_RDWR), pipes[2], in = open("old", O_RDONLY);
	off_t from = 0;
	loff_t to = 60;

	CHECK(write(fd, "0123456789", 10) == 10 && pwrite(fd, "abcdefghij", 10, 10) == 10);
	CHECK(lseek(fd, 20, SEEK_SET) == 20 && writev(fd, v, 2) == 10 && pwritev(fd, v, 2, 30) == 10);
	CHECK(pwritev2(fd, v, 2, 40, RWF_DSYNC) == 10);
	CHECK(lseek(fd, 50, SEEK_SET) == 50 && sendfile(fd, in, &from, 10) == 10);
	from = 0;
	CHECK(copy_file_range(in, &from, fd, &to, 10, 0) == 10);
	CHECK(pipe(pipes) == 0 && write(pipes[1], "spliced...", 10) == 10);
	CHECK(splice(pipes[0], NULL, fd, &to, 10, 0) == 10);
	CHECK(fsync(fd) == 0 && fdatasync(fd) == 0 && sync_file_range(fd, 0, 80, SYNC_FILE_RANGE_WRITE) == 0 && syncfs(fd) == 0);
	fd = make("synced", O_WRONLY | O_DSYNC);
	CHECK(write(fd, "d", 1) == 1);
}

static void sizes(void)
{
	int fd = open("old", O_WRONLY | O_TRUNC);

	CHECK(fd >= 0 && ftruncate(fd, 100) == 0 && truncate("old", 50) == 0);
	CHECK(fallocate(fd, 0, 0, 8192) == 0 && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 16384) == 0);
	CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0);
}

static void names(const char *outside)
{
	char link_path[64];
	int folder = open(".", O_RDONLY | O_DIRECTORY), nameless;

	CHECK(mkdir("sub", 0755) == 0 && symlink("../written", "sub/symbolic") == 0 && link("written", "sub/hard") == 0);
	CHECK(rename("written", "renamed") == 0 && renameat2(folder, "renamed", folder, "synced", RENAME_EXCHANGE) == 0);
	CHECK(rename("renamed", "old") == 0); /* over a file that was there before */
	CHECK(rename("sub", "folder") == 0 && fsync(folder) == 0);
	CHECK(rename("old", outside) == 0 && rename(outside, "back") == 0);
	nameless = open(".", O_TMPFILE | O_WRONLY, 0600);
	CHECK(nameless >= 0 && write(nameless, "nameless", 8) == 8);
	snprintf(link_path, sizeof link_path, "/proc/self/fd/%d", nameless);
	CHECK(linkat(AT_FDCWD, link_path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW) == 0);
	CHECK(unlink("folder/symbolic") == 0 && unlink("folder/hard") == 0 && rmdir("folder") == 0);
	CHECK(unlink("logs/for people") == 0); /* --files-except logs */
}

static void *other(void *arg)
{
	CHECK(write(make("by a thread", O_WRONLY), "t", 1) == 1);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int status;

	CHECK(argc == 3 && chdir(argv[1]) == 0);
	writes();
	sizes();
	names(argv[2]);
	CHECK(pthread_create(&thread, NULL, other, NULL) == 0 && pthread_join(thread, NULL) == 0);
	if (fork() == 0) {
		CHECK(write(make("by a child", O_WRONLY), "c", 1) == 1);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0);
	sync();
	return 0;
}
