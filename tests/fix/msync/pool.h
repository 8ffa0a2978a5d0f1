/* What the programs of this folder share: a file in the page cache of several pages. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct pool {
	uint64_t data, pad[511];
	uint64_t valid, more[511];
};

static int fd;

static inline struct pool *pool_open(const char *path)
{
	struct pool *p;

	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, sizeof *p) != 0)
		exit(2);
	p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		exit(2);
	return p;
}
