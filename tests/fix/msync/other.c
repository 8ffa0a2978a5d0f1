/* What is synced elsewhere is not known to cover the store: a log, and the first page of the mapping; the helper's pages have a size that nobody sees. Left. */
#include "pool.h"

static size_t page_bytes;
static int log_fd = -1;

static void save(const void *at, size_t n)
{
	uintptr_t from = (uintptr_t)at & ~(page_bytes - 1);

	msync((void *)from, (uintptr_t)at + n - from, MS_SYNC);
}

static void set(struct pool *p)
{
	p->data = 7;
	save(&p->data, sizeof p->data);
	p->valid = 1;
}

int main(int argc, char **argv)
{
	struct pool *p = pool_open(argv[1]);

	if (argc < 3)
		return p->valid && p->data != 7;
	page_bytes = 4096;
	msync(p, 4096, MS_SYNC);
	set(p);
	fsync(log_fd);
	return 0;
}
