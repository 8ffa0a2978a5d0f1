/* libpmemobj without transactions: the program itself persists what it stores. */
#include <libpmemobj.h>

#include "corpus.h"

struct item {
	_Alignas(64) uint64_t a;
	_Alignas(64) uint64_t b;
	_Alignas(64) char text[128];
};

static int construct(PMEMobjpool *pop, void *addr, void *arg)
{
	struct item *item = align(addr);

	item->a = *(uint64_t *)arg;
	pmemobj_persist(pop, &item->a, sizeof item->a);
	return 0;
}

static int construct_carelessly(PMEMobjpool *pop, void *addr, void *arg)
{
	struct item *item = align(addr);

	(void)pop;
	item->b = *(uint64_t *)arg; /* BUG: missing-flush */
	return 0;
}

static struct item *allocate(PMEMobjpool *pop, pmemobj_constr constructor)
{
	uint64_t value = 5;
	PMEMoid oid;

	CHECK(pmemobj_alloc(pop, &oid, sizeof(struct item) + LINE_BYTES, 1, constructor, &value) == 0);
	return align(pmemobj_direct(oid));
}

int main(int argc, char **argv)
{
	struct item *good, *bad;
	PMEMobjpool *pop;

	CHECK(argc == 2);
	pop = pmemobj_create(argv[1], "corpus", PMEMOBJ_MIN_POOL, 0666);
	CHECK(pop);
	good = allocate(pop, construct);
	good->b = 1;
	pmemobj_persist(pop, &good->b, 8);
	pmemobj_memcpy_persist(pop, good->text, "text", 5);

	bad = allocate(pop, construct_carelessly);
	bad->a = 1; /* BUG: missing-flush */
	good->b = 2;
	pmemobj_persist(pop, &good->b, 8);
	pmemobj_persist(pop, &good->b, 8); /* BUG: flush-clean */
	good->a = 2;
	pmemobj_flush(pop, &good->a, 8);
	pmemobj_flush(pop, &good->a, 8); /* BUG: redundant-flush */
	pmemobj_drain(pop);
	pmemobj_drain(pop); /* BUG amd64: redundant-fence */
	memcpy(bad->text, "text", 5); /* BUG: missing-flush */
	pmemobj_close(pop);
	return 0;
}
