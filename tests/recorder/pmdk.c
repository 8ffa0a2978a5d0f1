/* Debian's PMDK as it is: libpmem must take the path it takes on real PM (clwb, sfence; dc cvap, dmb), libpmemobj must tell its transactions. */
#include "tests/recorder/expect.h"
#include "tests/machine.h"

#include <libpmem.h>
#include <libpmemobj.h>

POBJ_LAYOUT_BEGIN(test);
POBJ_LAYOUT_ROOT(test, struct root);
POBJ_LAYOUT_END(test);

struct root {
	uint64_t a, b[100];
};

static void pmem(const char *path)
{
	size_t bytes;
	int is_pmem;
	char *p = pmem_map_file(path, 4096, PMEM_FILE_CREATE, 0666, &bytes, &is_pmem), *q;

	CHECK(p && is_pmem && bytes == 4096);
	q = p + 100;
	expect_pool(path, p, 4096, 0);
	STORE(p, 8, *(volatile uint64_t *)p = 42);
	pmem_persist(p, 8);
	expect_addr(FLUSH_KIND, p, 64, 0, NULL);
	expect_event(LIBPMEM_FENCE_KIND, 0, NULL);
	STORE(q, 8, *(volatile uint64_t *)q = 43); /* 100..107: one line */
	pmem_flush(q, 100);			     /* 100..199: three lines */
	expect_addr(FLUSH_KIND, p + 64, 64, 0, NULL);
	expect_addr(FLUSH_KIND, p + 128, 64, 0, NULL);
	expect_addr(FLUSH_KIND, p + 192, 64, 0, NULL);
	pmem_drain();
	expect_event(LIBPMEM_FENCE_KIND, 0, NULL);
	pmem_memcpy_persist(p + 1024, "sixteen bytes...", 16);
	expect_cover("any", p + 1024, 16);
	expect_event(LIBPMEM_FENCE_KIND, 0, NULL);
	pmem_memset(p + 2048, 'n', 1024, PMEM_F_MEM_NONTEMPORAL);
	expect_cover(LIBPMEM_NT_KIND, p + 2048, 1024);
	expect_event(LIBPMEM_FENCE_KIND, 0, NULL);
	expect_begin("anything"); /* from here on it is libpmemobj's business */
	expect_end();
}

static void pmemobj(const char *path)
{
	PMEMobjpool *pop = pmemobj_create(path, POBJ_LAYOUT_NAME(test), PMEMOBJ_MIN_POOL, 0666);
	TOID(struct root) root;

	CHECK(pop);
	root = POBJ_ROOT(pop, struct root);
	TX_BEGIN(pop)
	{
		TX_ADD_FIELD(root, a);
		D_RW(root)->a = 1;
		TX_ADD(root);
		D_RW(root)->b[3] = 2;
	}
	TX_ONABORT
	{
		CHECK(0);
	}
	TX_END
	TX_BEGIN(pop)
	{
		TX_ADD_FIELD(root, b[5]);
		D_RW(root)->b[5] = 3;
		pmemobj_tx_abort(1);
	}
	TX_END
	CHECK(D_RO(root)->b[5] == 0);
	pmemobj_close(pop);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	pmem(pool_path(argv[1], "pmem"));
	pmemobj(pool_path(argv[1], "obj"));
	return 0;
}
