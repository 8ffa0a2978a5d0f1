/* A pool of 1.5 GiB, mostly holes, which recovery makes if it is not there. Correct.
 *
 *   large POOL [MIB]      run and recovery are the same; MIB: reserves so much memory before */
#include "pm.h"

#define POOL_BYTES ((size_t)3 << 29)

int main(int argc, char **argv)
{
	uint64_t *p;

	CHECK(argc > 1);
	if (argc > 2)
		CHECK(mmap(NULL, strtoul(argv[2], NULL, 10) << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED);
	p = pool_create(argv[1], POOL_BYTES);
	CHECK(*p == 0 || *p == 1);
	*p = 1;
	persist(p, sizeof *p);
	return 0;
}
