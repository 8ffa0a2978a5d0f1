/* The kernel writes into PM, and files that are mapped change through file descriptors. */
#include "tests/recorder/expect.h"

#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

static char *pool;
static const char *path;
static int fd;
static char text[1000];

static int text_file(const char *dir)
{
	int f = open(pool_path(dir, "text"), O_RDWR | O_CREAT | O_TRUNC, 0666);

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('A' + i % 58);
	CHECK(f >= 0 && write(f, text, sizeof(text)) == sizeof(text));
	CHECK(lseek(f, 0, SEEK_SET) == 0);
	return f;
}

static void reads(int f)
{
	struct iovec v[3] = {{pool + 1024, 10}, {text, 20}, {pool + 1100, 100}};
	char *p = pool;

	CHECK(read(f, p + 3, 200) == 200);
	expect_sys(p + 3, 200);
	CHECK(pread(f, p + 300, 5, 17) == 5);
	expect_sys(p + 300, 5);
	CHECK(pread(f, p + 512, 400, 900) == 100); /* short: the rest stays as it was */
	expect_sys(p + 512, 100);
	CHECK(pread(f, p + 512, 400, 5000) == 0);
	CHECK(read(-1, p + 512, 400) == -1);
	CHECK(lseek(f, 500, SEEK_SET) == 500);
	CHECK(readv(f, v, 3) == 130);
	expect_sys(p + 1024, 10);
	expect_sys(p + 1100, 100);
	CHECK(preadv(f, v, 3, 100) == 130);
	expect_sys(p + 1024, 10);
	expect_sys(p + 1100, 100);
	STORE(p + 64, 1, *(volatile char *)(p + 64) = 1);
}

static void receives(void)
{
	char *p = pool + 4096;
	struct iovec v = {p + 512, 64};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	int s[2], pipes[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 && pipe(pipes) == 0);
	CHECK(write(pipes[1], "pipe", 4) == 4);
	CHECK(read(pipes[0], p, 100) == 4);
	expect_sys(p, 4);
	CHECK(write(s[0], "hello, receiver", 15) == 15);
	ARGS("output", NULL, (uint64_t)s[0], 15); /* a socket: somebody is told */
	CHECK(recv(s[1], p + 60, 7, 0) == 7);
	expect_sys(p + 60, 7);
	ARGS("input", NULL, (uint64_t)s[1], 7);
	CHECK(recvfrom(s[1], p + 128, 100, 0, NULL, NULL) == 8);
	expect_sys(p + 128, 8);
	ARGS("input", NULL, (uint64_t)s[1], 8);
	CHECK(write(s[0], "message", 7) == 7);
	ARGS("output", NULL, (uint64_t)s[0], 7);
	CHECK(recvmsg(s[1], &m, 0) == 7);
	expect_sys(p + 512, 7);
	ARGS("input", NULL, (uint64_t)s[1], 7);
	CHECK(write(s[0], "one\ntwo\nth", 10) == 10);
	ARGS("output", NULL, (uint64_t)s[0], 10);
	CHECK(read(s[1], p + 512, 100) == 10);
	expect_sys(p + 512, 10);
	ARGS("input", NULL, (uint64_t)s[1], 4); /* a line each; what has only begun belongs to the last */
	ARGS("input", NULL, (uint64_t)s[1], 6);
	CHECK(getrandom(p + 1000, 40, 0) == 40);
	expect_sys(p + 1000, 40);
	CHECK(fstat(fd, (struct stat *)(p + 2048)) == 0);
	expect_sys(p + 2048, sizeof(struct stat));
	STORE(p, 1, *(volatile char *)p = 2);
}

/* The mapped file changes through another descriptor, too. */
static void writes(void)
{
	char *p = pool + 8192;
	struct iovec v[2] = {{text, 30}, {text + 40, 50}};
	int other = open(path, O_RDWR);

	CHECK(pwrite(fd, text, 150, 8192 + 10) == 150);
	expect_sys(p + 10, 150);
	ARGS("write", p + 10, 150);
	CHECK(pwrite(other, text + 5, 20, 8192 + 200) == 20);
	expect_sys(p + 200, 20);
	ARGS("write", p + 200, 20);
	CHECK(lseek(fd, 8192 + 300, SEEK_SET) >= 0);
	CHECK(write(fd, text, 7) == 7);
	expect_sys(p + 300, 7);
	ARGS("write", p + 300, 7);
	CHECK(write(fd, text + 7, 7) == 7); /* goes on where the last one ended */
	expect_sys(p + 307, 7);
	ARGS("write", p + 307, 7);
	CHECK(writev(fd, v, 2) == 80);
	expect_sys(p + 314, 80); /* one range of the file, however many buffers it came from */
	ARGS("write", p + 314, 80);
	CHECK(pwritev(fd, v, 2, 8192 + 600) == 80);
	expect_sys(p + 600, 80);
	ARGS("write", p + 600, 80);
	CHECK(pwrite(fd, pool, 64, 8192 + 1024) == 64); /* from PM into PM */
	expect_sys(p + 1024, 64);
	ARGS("write", p + 1024, 64);
	close(other);
	STORE(p, 1, *(volatile char *)p = 3);
}

/* Writes that are durable when the call returns. */
static void durable_writes(void)
{
	char *p = pool + 8192;
	struct iovec v = {text, 30};
	int dsync = open(path, O_WRONLY | O_DSYNC), sync = open(path, O_WRONLY | O_SYNC);

	CHECK(dsync >= 0 && pwrite(dsync, text, 20, 8192 + 1200) == 20);
	expect_sys(p + 1200, 20);
	ARGS("write", p + 1200, 20);
	ARGS("msync", p + 1200, 20, MS_SYNC);
	CHECK(sync >= 0 && lseek(sync, 8192 + 1300, SEEK_SET) >= 0 && write(sync, text, 5) == 5);
	expect_sys(p + 1300, 5);
	ARGS("write", p + 1300, 5);
	ARGS("msync", p + 1300, 5, MS_SYNC);
	CHECK(pwritev2(fd, &v, 1, 8192 + 1400, RWF_DSYNC) == 30);
	expect_sys(p + 1400, 30);
	ARGS("write", p + 1400, 30);
	ARGS("msync", p + 1400, 30, MS_SYNC);
	CHECK(pwritev2(fd, &v, 1, 8192 + 1400, 0) == 30);
	expect_sys(p + 1400, 30);
	ARGS("write", p + 1400, 30);
	close(dsync);
	close(sync);
}

static void syncs(uint64_t file)
{
	char *p = pool;

	CHECK(msync(p, 4096, MS_SYNC) == 0);
	ARGS("msync", p, 4096, MS_SYNC);
	CHECK(msync(p + 8192, 100, MS_ASYNC) == 0);
	ARGS("msync", p + 8192, EXPECT_ANY, MS_ASYNC);
	CHECK(fsync(fd) == 0);
	ARGS("fsync", NULL, file);
	CHECK(fdatasync(fd) == 0);
	ARGS("fdatasync", NULL, file);
	CHECK(msync(p + 1, 1, MS_SYNC) == -1); /* not a page: refused */
}

static void sizes(uint64_t file)
{
	CHECK(ftruncate(fd, 65536) == 0);
	ARGS("size", NULL, file, 65536);
	CHECK(fallocate(fd, 0, 65536, 4096) == 0);
	ARGS("fallocate", NULL, file, 0, 65536, 4096);
	ARGS("size", NULL, file, 69632);
	CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 512, 100) == 0);
	ARGS("fallocate", NULL, file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 512, 100);
	CHECK(posix_fallocate(fd, 0, 4096) == 0);
	ARGS("fallocate", NULL, file, 0, 0, 4096);
	CHECK(ftruncate(fd, 12288) == 0);
	ARGS("size", NULL, file, 12288);
	CHECK(ftruncate(fd, 16384) == 0);
	ARGS("size", NULL, file, 16384);
	CHECK(truncate(path, 20480) == 0);
	ARGS("size", NULL, file, 20480);
	STORE(pool, 1, *(volatile char *)pool = 4);
}

/* Writes that make the file longer; what lies in the mapping and what lies behind it are equally the file's bytes. */
static void append(uint64_t file)
{
	int a = open(path, O_WRONLY | O_APPEND);

	CHECK(write(a, text, 100) == 100);
	ARGS("size", NULL, file, 20580); /* first the room, then the bytes */
	expect_pool(path, text, 100, 20480); /* what was written, for the expectation's bytes */
	expect_cover("store-sys", text, 100);
	ARGS("write", text, 100);
	expect_npools--;
	close(a);
}

static void outputs(void)
{
	CHECK(write(1, "acknowledged\n", 13) == 13);
	ARGS("output", NULL, 1, 13);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	path = pool_path(argv[1], "pool");
	pool = pool_map(path, 16384);
	fd = open(path, O_RDWR);
	CHECK(fd >= 0);
	reads(text_file(argv[1]));
	receives();
	writes();
	durable_writes();
	syncs(1);
	sizes(1);
	append(1);
	outputs();
	return 0;
}
