/* The whole file is synced, by its descriptor. */
#include "pool.h"

static void set(struct pool *p)
{
	p->data = 7;
	p->valid = 1;
}

int main(int argc, char **argv)
{
	struct pool *p = pool_open(argv[1]);

	if (argc < 3)
		return p->valid && p->data != 7;
	p->more[0] = 1;
	fdatasync(fd);
	p->more[1] = 1;
	fdatasync(fd);
	set(p);
	return 0;
}
