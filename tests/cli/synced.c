/* Programs of the page cache, and some that only look so: synced POOL STYLE. Without a style it is recovery. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef WITH_LIBPMEM
#include <libpmem.h>
#endif

#include "tests/machine.h"

enum { PAGE = 4096, NREST = 6 };

struct pool {
	uint64_t data;
	char pad[PAGE - 8];
	uint64_t valid;
	char more[PAGE - 8];
	char rest[NREST][PAGE];
};

static int fd;

static void save(const void *p, size_t n)
{
	uintptr_t from = (uintptr_t)p & ~(uintptr_t)(PAGE - 1);

	if (msync((void *)from, (uintptr_t)p + n - from, MS_SYNC) != 0)
		abort();
}

static void keep(const char *style, const void *p, size_t n)
{
	if (strcmp(style, "fsync") == 0)
		fsync(fd);
	else if (strcmp(style, "fdatasync") == 0)
		fdatasync(fd);
	else if (strcmp(style, "async") == 0)
		msync((void *)((uintptr_t)p & ~(uintptr_t)(PAGE - 1)), PAGE, MS_ASYNC);
	else if (strcmp(style, "flush") == 0) {
		flush_line(p);
		fence();
	} else
		save(p, n);
}

static void run(struct pool *p, const char *style)
{
	size_t nrest = strcmp(style, "few") == 0 ? NREST : strcmp(style, "half") == 0 ? 2 : 0;

#ifdef WITH_LIBPMEM
	if (strcmp(style, "libpmem") == 0) {
		p->data = 7;
		pmem_msync(&p->data, sizeof p->data);
		p->valid = 1;
		pmem_persist(&p->valid, sizeof p->valid);
		return;
	}
#endif
	for (size_t i = 0; i < nrest; i++)
		p->rest[i][0] = 1;
	if (strcmp(style, "flush") == 0)
		save(p->rest, PAGE);
	p->data = 7;
	if (strcmp(style, "broken") != 0)
		keep(style, &p->data, sizeof p->data);
	p->valid = 1;
	keep(style, &p->valid, sizeof p->valid);
}

int main(int argc, char **argv)
{
	struct pool *p;

	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, sizeof *p) != 0)
		return 2;
	p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return 2;
	if (argc < 3)
		return p->valid && p->data != 7;
	run(p, argv[2]);
	return 0;
}
