/* Three ways to one line that is not written back, and an allocator of another project whose header is not either. On libpmemobj.
 *	callers POOL */
#include <libpmemobj.h>

#include "tests/cli/vendor/pmalloc.h"

struct root {
	_Alignas(64) struct pmalloc pieces;
	_Alignas(64) uint64_t slots[64];
};

static PMEMobjpool *g_pop;

static __attribute__((noinline)) void set(struct root *r, int i, uint64_t value)
{
	r->slots[8 * i] = value; /* STORE */
}

static __attribute__((noinline)) void insert(struct root *r, int i)
{
	set(r, i, 1);
	__asm__ volatile("");
}

static __attribute__((noinline)) void update(struct root *r, int i)
{
	set(r, i, 2);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	struct root *r;

	g_pop = argc == 2 ? pmemobj_create(argv[1], "callers", PMEMOBJ_MIN_POOL, 0600) : NULL;
	if (!g_pop)
		return 2;
	r = (struct root *)(((uintptr_t)pmemobj_direct(pmemobj_root(g_pop, sizeof *r + 64)) + 63) & ~(uintptr_t)63);
	insert(r, 1);
	insert(r, 2);
	update(r, 3);
	set(r, 4, 3);
	pmalloc(&r->pieces, 8); /* CALLER */
	pmemobj_close(g_pop);
	return 0;
}
