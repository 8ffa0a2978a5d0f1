/* Pools change through system calls that do not look like it: truncating opens, appending writes, links, holes, other programs,
 * calls with bad pointers. Nothing is expected event by event: the replayed trace must give the files as they are at the end.
 * Called again as "files DIR child", it is the other program. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "tests/recorder/expect.h"

static const char *in(const char *dir, const char *name)
{
	return pool_path(dir, name);
}

static void truncating_open(const char *dir)
{
	char *p = pool_map(in(dir, "truncated"), 8192);
	int fd;

	memset(p, 'x', 8192);
	CHECK(munmap(p, 8192) == 0);
	fd = open(in(dir, "truncated"), O_RDWR | O_TRUNC);
	CHECK(fd >= 0 && ftruncate(fd, 8192) == 0);
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p[10] = 7;
	p = pool_map(in(dir, "created again"), 8192);
	memset(p, 'y', 8192);
	fd = creat(in(dir, "created again"), 0644);
	CHECK(fd >= 0 && ftruncate(fd, 100) == 0);
}

/* Linux appends whatever the offset says. */
static void appending_writes(const char *dir)
{
	char *p = pool_map(in(dir, "appended"), 4096);
	struct iovec v = { "zz", 2 };
	int fd = open(in(dir, "appended"), O_RDWR | O_APPEND), other = open(in(dir, "appended"), O_RDWR);

	p[0] = 1;
	CHECK(pwrite(fd, "hello", 5, 0) == 5 && write(fd, "abc", 3) == 3);
	CHECK(pwritev2(other, &v, 1, 0, RWF_APPEND) == 2);
}

static void links(const char *dir)
{
	char *p = pool_map(in(dir, "pool"), 4096), *q = pool_map(in(dir, "linked"), 4096), *r;
	int fd;

	p[0] = 1;
	CHECK(symlink("pool", in(dir, "symbolic")) == 0 && rename(in(dir, "symbolic"), in(dir, "symbolic 2")) == 0);
	p[1] = 2;
	CHECK(unlink(in(dir, "symbolic 2")) == 0); /* the link, not the pool */
	p[2] = 3;
	CHECK(link(in(dir, "linked"), in(dir, "second name")) == 0);
	fd = open(in(dir, "junk"), O_CREAT | O_RDWR, 0600);
	CHECK(fd >= 0 && rename(in(dir, "junk"), in(dir, "second name")) == 0); /* the first name is left */
	fd = open(in(dir, "linked"), O_RDWR);
	r = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	q[0] = 4;
	r[1] = 5;
	CHECK(link(in(dir, "pool"), in(dir, "third name")) == 0 && rename(in(dir, "pool"), in(dir, "third name")) == 0);
	p[3] = 6; /* two names of one file: rename does nothing */
	CHECK(syscall(SYS_renameat2, AT_FDCWD, in(dir, "pool"), AT_FDCWD, in(dir, "linked"), 2 /* RENAME_EXCHANGE */) == 0);
	p[4] = 7;
	q[2] = 8;
}

static void hole(const char *dir)
{
	char *p = pool_map(in(dir, "hole"), 16384);

	memset(p, 'x', 16384);
	CHECK(madvise(p + 4096, 4096, MADV_REMOVE) == 0);
	p[0] = 1;
}

/* What fails natively fails here too, and does no harm. */
static void bad_pointers(const char *dir)
{
	char *bad = (char *)8;
	int d = open(dir, O_RDONLY | O_DIRECTORY);

	CHECK(unlinkat(d, bad, 0) < 0 && errno == EFAULT);
	CHECK(syscall(SYS_openat, d, bad, O_CREAT | O_RDWR, 0600) < 0 && errno == EFAULT);
	CHECK(renameat(d, bad, d, bad) < 0 && errno == EFAULT);
	CHECK(syscall(SYS_execve, bad, NULL, NULL) < 0 && errno == EFAULT);
	close(d);
}

static void other_program(const char *dir, char *self)
{
	char *p = pool_map(in(dir, "shared"), 8192);
	int status;

	p[0] = 1;
	if (fork() == 0) {
		execl(self, self, dir, "child", NULL);
		_exit(1);
	}
	CHECK(wait(&status) > 0 && status == 0);
	p[1] = 2;
}

/* Maps nothing: the file is PM all the same. */
static int child(const char *dir)
{
	int fd = open(in(dir, "shared"), O_RDWR);

	return pwrite(fd, "abcd", 4, 100) == 4 && ftruncate(fd, 16384) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	CHECK(argc >= 2);
	if (argc == 3)
		return child(argv[1]);
	truncating_open(argv[1]);
	appending_writes(argv[1]);
	links(argv[1]);
	hole(argv[1]);
	bad_pointers(argv[1]);
	other_program(argv[1], argv[0]);
	return 0;
}
