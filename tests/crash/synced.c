/* A store on mmap and msync, without a cache line flush anywhere: `synced run POOL`, `synced hasty POOL`, `synced careful POOL`. */
#include "pm.h"

#define PAGE_BYTES 4096

struct part {
	_Alignas(PAGE_BYTES) uint64_t data;
	_Alignas(PAGE_BYTES) uint64_t flag;
};

struct pool {
	struct part hasty, careful;
};

int main(int argc, char **argv)
{
	struct pool *p;
	struct part *part;

	CHECK(argc == 3);
	if (strcmp(argv[1], "run") == 0) {
		p = pool_create(argv[2], sizeof *p);
		p->hasty.data = 3; /* BUG: hasty: ordering lost */
		p->hasty.flag = 1; /* BUG: hasty: ordering survived */
		CHECK(msync(&p->hasty, sizeof p->hasty, MS_SYNC) == 0);
		p->careful.data = 3;
		CHECK(msync(&p->careful.data, PAGE_BYTES, MS_SYNC) == 0);
		p->careful.flag = 1;
		CHECK(msync(&p->careful.flag, PAGE_BYTES, MS_SYNC) == 0);
		return 0;
	}
	p = pool_open(argv[2], sizeof *p);
	part = !p ? NULL : argv[1][0] == 'h' ? &p->hasty : &p->careful;
	CHECK(!part || !part->flag || part->data == 3);
	return 0;
}
