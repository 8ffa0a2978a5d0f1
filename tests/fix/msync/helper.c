/* A helper syncs the pages of a range: the length comes first, and the page's size is asked for. */
#include "pool.h"

static void to_disk(size_t n, const void *at)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)at & ~(page - 1);

	if (msync((void *)from, (uintptr_t)at + n - from, MS_SYNC) != 0)
		abort();
}

int main(int argc, char **argv)
{
	struct pool *p = pool_open(argv[1]);

	if (argc < 3)
		return p->valid && p->data != 7;
	p->data = 7;
	p->valid = 1;
	to_disk(sizeof p->valid, &p->valid);
	return 0;
}
