/* msync of the object, from where the mapping begins. */
#include "pool.h"

static void set(struct pool *p)
{
	p->data = 7;
	msync(p, sizeof *p, MS_SYNC);
	p->valid = 1;
}

int main(int argc, char **argv)
{
	struct pool *p = pool_open(argv[1]);

	if (argc < 3)
		return p->valid && p->data != 7;
	set(p);
	return 0;
}
