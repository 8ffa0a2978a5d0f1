/* A pool that is written by calls, and mapped only then.
 *	named POOL HOW		rename: it is written and synced under another name, and gets its own then; early: it is renamed before it is
 *				synced; direct: it is written under its own name; again: it is renamed whole, and then emptied and written again;
 *				cut: it is renamed whole, and then cut off by its name and grown; bak: it is written under its own name, and gets another one besides
 *				osync, rwf, syncfs: it is made durable by other means than fsync, and renamed; some: a part of it is
 *				folder: its folder gets its name; soon: before it is synced
 *				child, child_early: another process renames it, when it is synced, or before
 *				rely: a pool that is mapped relies on another one, which is synced before and after, and mapped last
 *				tmpfile: it has no name before it is synced, then a link; tmpfile_again: it is written again then; tmpfile_early, linked_early:
 *				it is synced after that; linked, linked_again: the link is its second name, and the first one goes
 *				unseen: it is written through a mapping and renamed
 *				calls, mapped: a pool that is mapped is replaced by another one, which is written by calls, or by stores; gone: it is removed first
 *	named POOL HOW recover	fails if a pool that is there is not whole */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pm.h"

struct pool {
	volatile uint64_t magic, n;
};

#define MAGIC 0x77u

static int recover(const char *path, int is_always_there)
{
	struct pool p = { 0 };
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return is_always_there;
	return read(fd, &p, sizeof p) != sizeof p || p.magic != MAGIC;
}

static int is_compaction(const char *how)
{
	return strcmp(how, "calls") == 0 || strcmp(how, "mapped") == 0 || strcmp(how, "gone") == 0;
}

static struct pool *map(int fd)
{
	void *p = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		exit(2);
	return p;
}

static void count(struct pool *p)
{
	p->n++;
	persist((const void *)&p->n, sizeof p->n);
}

static int compact(const char *path, const char *other, const char *how)
{
	const struct pool whole = { MAGIC, 1 };
	struct pool *p = map(open(path, O_RDWR)), *new;
	int fd = open(other, O_RDWR | O_CREAT | O_TRUNC, 0600);

	count(p);
	if (ftruncate(fd, 4096) != 0)
		return 2;
	if (strcmp(how, "mapped") == 0) {
		new = map(fd);
		new->magic = whole.magic;
		new->n = whole.n;
		persist((const void *)new, sizeof *new);
	} else if (pwrite(fd, &whole, sizeof whole, 0) != sizeof whole) {
		return 2;
	}
	if (fsync(fd) != 0 || (strcmp(how, "gone") == 0 && unlink(path) != 0) || rename(other, path) != 0)
		return 2;
	count(map(fd));
	return 0;
}

static const struct pool g_whole = { MAGIC, 1 };

/* Written as a whole, and durable but where `how` says that it is not; by other means than fsync, most of the time. */
static int make(const char *how, const char *path)
{
	const struct iovec iov = { (void *)&g_whole, sizeof g_whole };
	int sync = strcmp(how, "osync") == 0 || strcmp(how, "some") == 0 ? O_SYNC : 0, fd = open(path, O_RDWR | O_CREAT | O_TRUNC | sync, 0600);
	struct pool *p;

	if (fd < 0 || ftruncate(fd, 4096) != 0)
		exit(2);
	if (strcmp(how, "unseen") == 0) {
		p = map(fd);
		p->magic = MAGIC;
		p->n = 1;
		if (msync((void *)p, 4096, MS_SYNC) != 0)
			exit(2);
	} else if (strcmp(how, "some") == 0) {
		int other = open(path, O_RDWR);

		if (pwrite(other, &g_whole, 8, 0) != 8 || pwrite(fd, (const char *)&g_whole + 8, 8, 8) != 8)
			exit(2);
	} else if (pwritev2(fd, &iov, 1, 0, strcmp(how, "rwf") == 0 ? RWF_DSYNC : 0) != sizeof g_whole) {
		exit(2);
	}
	if (strcmp(how, "syncfs") == 0 ? syncfs(fd) : strcmp(how, "folder") == 0 || strcmp(how, "child") == 0 ? fsync(fd) : 0)
		exit(2);
	return fd;
}

static int go_on(int fd)
{
	struct pool *p;

	if (fsync(fd) != 0)
		return 2;
	p = map(fd);
	p->n = 2;
	persist((const void *)&p->n, sizeof p->n);
	return 0;
}

static int in_folder(const char *how, const char *path)
{
	const int len = (int)(strrchr(path, '/') - path);
	char to[4096], from[4096], pool[8192];
	int fd;

	snprintf(to, sizeof to, "%.*s", len, path);
	snprintf(from, sizeof from, "%.*s.new", len, path);
	snprintf(pool, sizeof pool, "%s%s", from, path + len);
	if (mkdir(from, 0700) != 0)
		return 2;
	fd = make(how, pool);
	return rename(from, to) != 0 ? 2 : go_on(fd);
}

static const char *const by_other_means[] = { "osync", "rwf", "syncfs", "some", "child", "child_early", "unseen" };

static int made(const char *how, const char *path, const char *other)
{
	int fd = make(how, other), status = 0;

	if (strncmp(how, "child", 5) != 0)
		return rename(other, path) != 0 ? 2 : go_on(fd);
	if (fork() == 0)
		_exit(rename(other, path) != 0);
	return wait(&status) < 0 || status != 0 ? 2 : go_on(fd);
}

static int fill(int fd)
{
	return ftruncate(fd, 0) != 0 || ftruncate(fd, 4096) != 0 || pwrite(fd, &g_whole, sizeof g_whole, 0) != sizeof g_whole;
}

/* Its name is a link: its first one, or a second one. */
static int by_link(const char *how, const char *path, const char *other)
{
	const int is_nameless = strncmp(how, "tmpfile", 7) == 0;
	char folder[4096], own[64];
	int fd;

	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
	fd = is_nameless ? open(folder, O_RDWR | O_TMPFILE, 0600) : open(other, O_RDWR | O_CREAT | O_TRUNC, 0600);
	snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
	if (fd < 0 || fill(fd) != 0 || (!strstr(how, "_early") && fsync(fd) != 0))
		return 2;
	if (is_nameless ? linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) != 0 : link(other, path) != 0 || unlink(other) != 0)
		return 2;
	if (strstr(how, "_again") && fill(fd) != 0)
		return 2;
	return go_on(fd);
}

/* A pool that is mapped relies on another one, which was synced before; it is synced once more, and mapped only then. */
static int rely(const char *path, const char *other)
{
	int first = open(path, O_RDWR | O_CREAT, 0600), fd = open(other, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct pool *p;

	if (ftruncate(first, 4096) != 0)
		return 2;
	p = map(first);
	if (pwrite(fd, &g_whole, sizeof g_whole, 0) != sizeof g_whole || ftruncate(fd, 4096) != 0 || fsync(fd) != 0)
		return 2;
	p->n = 1;
	persist((const void *)&p->n, sizeof p->n);
	return go_on(fd);
}

static int recover_both(const char *path, const char *other)
{
	struct pool p = { 0 };
	int fd = open(path, O_RDONLY);

	return fd >= 0 && read(fd, &p, sizeof p) == sizeof p && p.n == 1 && recover(other, 1);
}

int main(int argc, char **argv)
{
	const struct pool whole = { MAGIC, 1 };
	const char *how = argc == 3 ? argv[2] : "";
	char other[4096];
	struct pool *p;
	int fd;

	snprintf(other, sizeof other, "%s.new", argv[1]);
	if (strcmp(argv[2], "rely") == 0)
		return argc == 4 ? recover_both(argv[1], other) : rely(argv[1], other);
	if (argc == 4)
		return recover(argv[1], is_compaction(argv[2]));
	if (strcmp(how, "folder") == 0 || strcmp(how, "soon") == 0)
		return in_folder(how, argv[1]);
	for (size_t i = 0; i < sizeof by_other_means / sizeof *by_other_means; i++)
		if (strcmp(by_other_means[i], how) == 0)
			return made(how, argv[1], other);
	if (strncmp(how, "tmpfile", 7) == 0 || strncmp(how, "linked", 6) == 0)
		return by_link(how, argv[1], other);
	if (is_compaction(how))
		return compact(argv[1], other, how);
	fd = open(strcmp(how, "direct") == 0 || strcmp(how, "bak") == 0 ? argv[1] : other, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, &whole, sizeof whole) != sizeof whole || ftruncate(fd, 4096) != 0)
		return 2;
	if (strcmp(how, "early") == 0 && rename(other, argv[1]) != 0)
		return 2;
	if (fsync(fd) != 0)
		return 2;
	if ((strcmp(how, "rename") == 0 || strcmp(how, "again") == 0) && rename(other, argv[1]) != 0)
		return 2;
	if (strcmp(how, "again") == 0) {
		fd = open(argv[1], O_RDWR | O_TRUNC);
		if (fd < 0 || write(fd, &whole, sizeof whole) != sizeof whole || ftruncate(fd, 4096) != 0 || fsync(fd) != 0)
			return 2;
	}
	if (strcmp(how, "cut") == 0 && (rename(other, argv[1]) != 0 || truncate(argv[1], 0) != 0 || pwrite(fd, &whole, sizeof whole, 0) < 0 || ftruncate(fd, 4096) != 0 || fsync(fd) != 0))
		return 2;
	if (strcmp(how, "bak") == 0 && (unlink(other), link(argv[1], other)) != 0)
		return 2;
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return 2;
	p->n = 2;
	persist((const void *)&p->n, sizeof p->n);
	return 0;
}
