/* An append log in a structure, with a checking macro, and a function that syncs the structure's
 * file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition))

struct log {
	int fd, dirfd;
	size_t size;
};

static void fail(const char *what)
{
	fprintf(stderr, "%s does not hold\n", what);
	abort();
}

static int log_sync(struct log *l)
{
	return fdatasync(l->fd);
}

static void log_open(struct log *l, const char *dir)
{
	l->dirfd = open(dir, O_RDONLY | O_DIRECTORY);
	CHECK(l->dirfd >= 0);
	l->fd = openat(l->dirfd, "log", O_WRONLY | O_CREAT | O_APPEND, 0644);
	CHECK(l->fd >= 0);
	CHECK(fsync(l->dirfd) == 0);
	CHECK(log_sync(l) == 0);
}

static void log_put(struct log *l, const char *key, const char *value)
{
	const unsigned char head[2] = { (unsigned char)strlen(key), (unsigned char)strlen(value) };

	CHECK(write(l->fd, head, sizeof head) == sizeof head);
	CHECK(write(l->fd, key, head[0]) == head[0]);
	CHECK(write(l->fd, value, head[1]) == head[1]);
	l->size += sizeof head + head[0] + head[1];
}

static int log_cut(struct log *l)
{
	l->size = 0;
	int result = ftruncate(l->fd, 0);
	if (log_sync(l) != 0)
		return -1;
	return result;
}

int main(int argc, char **argv)
{
	struct log l = { 0 };

	CHECK(argc == 2);
	log_open(&l, argv[1]);
	log_put(&l, "a", "1");
	log_put(&l, "b", "2");
	printf("%zu\n", l.size);
	fflush(stdout);
	CHECK(log_sync(&l) == 0);
	CHECK(log_cut(&l) == 0);
	puts("cut");
	return 0;
}
