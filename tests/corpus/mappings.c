/* Mappings that come and go. What was not durable when its mapping went away is a bug, unless msync or fsync comes later. */
#include "corpus.h"

#define PART_BYTES 4096

static void *map_part(int fd, int part)
{
	void *p = mmap(NULL, PART_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, part * PART_BYTES);

	CHECK(p != MAP_FAILED);
	return p;
}

static void unmap(void *p)
{
	CHECK(munmap(p, PART_BYTES) == 0);
}

static void unmapped_without_flush(int fd)
{
	struct pm *p = map_part(fd, 0);

	p->a = 1; /* BUG: missing-flush-fence */
	unmap(p);
}

static void unmapped_after_persist(int fd)
{
	struct pm *p = map_part(fd, 1);

	p->a = 1;
	persist(&p->a, 8);
	unmap(p);
}

static void msync_before(int fd)
{
	struct pm *p = map_part(fd, 2);

	p->a = 1;
	CHECK(msync(p, PART_BYTES, MS_SYNC) == 0);
	unmap(p);
}

static void asynchronous_msync(int fd)
{
	struct pm *p = map_part(fd, 3);

	p->a = 1; /* BUG: missing-flush-fence */
	CHECK(msync(p, PART_BYTES, MS_ASYNC) == 0);
	unmap(p);
}

/* Two mappings of one file are one memory. */
static void persisted_through_another_mapping(int fd)
{
	struct pm *p = map_part(fd, 4), *q = map_part(fd, 4);

	CHECK(p != q);
	p->a = 1;
	persist(&q->a, 8);
	unmap(p);
	unmap(q);
}

/* This process's memory, but no file that survives it. */
static void private_mapping(int fd)
{
	struct pm *p = mmap(NULL, PART_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 5 * PART_BYTES);

	CHECK(p != MAP_FAILED);
	p->a = 1;
	unmap(p);
}

static void replaced_by_another_mapping(int fd)
{
	struct pm *p = map_part(fd, 6);

	p->a = 1; /* BUG: missing-flush-fence */
	CHECK(mmap(p, PART_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p);
}

/* An fsync later: this file is another one, for it would sync all the others' stores, too. */
static void fsync_after(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0666);
	struct pm *p;

	CHECK(fd >= 0 && ftruncate(fd, POOL_BYTES) == 0);
	p = map_part(fd, 0);
	p->a = 1;
	unmap(p);
	CHECK(fsync(fd) == 0);
	p = map_part(fd, 1);
	p->a = 1;
	CHECK(fdatasync(fd) == 0);
	unmap(p);
	p = map_part(fd, 2);
	p->a = 1; /* BUG: missing-flush-fence */
	close(fd);
}

int main(int argc, char **argv)
{
	char other[4096];
	int fd;

	CHECK(argc == 2);
	fd = open(argv[1], O_RDWR | O_CREAT, 0666);
	CHECK(fd >= 0 && ftruncate(fd, POOL_BYTES) == 0);
	snprintf(other, sizeof other, "%s, another", argv[1]);
	unmapped_without_flush(fd);
	msync_before(fd);
	asynchronous_msync(fd);
	private_mapping(fd);
	replaced_by_another_mapping(fd);
	fsync_after(other);
	if (fork() == 0) { /* the child's fences are not ours */
		unmapped_after_persist(fd);
		persisted_through_another_mapping(fd);
		_exit(0);
	}
	return 0;
}
