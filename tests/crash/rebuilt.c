/* A list on libpmemobj with a counter that transactions change. The program also changes it outside,
 * and does not flush that.
 *
 *	rebuilt POOL create	makes an empty pool
 *	rebuilt POOL run	adds nodes
 *	rebuilt POOL leave	the same, and changes the counter once more before it ends
 *	rebuilt POOL again	counts the nodes, then stores the counter, then reads it	(right)
 *	rebuilt POOL believe	reads the counter first						(wrong) */
#include <libpmemobj.h>

#include "pm.h"

enum { NODES = 2 };

struct node {
	PMEMoid next;
};

struct root {
	_Alignas(64) PMEMoid head;
	_Alignas(64) volatile uint64_t count;
};

static void add(PMEMobjpool *pop, struct root *r)
{
	r->count += 10; /* for those who look while the program runs */ /* outside */
	TX_BEGIN(pop)
	{
		PMEMoid o = pmemobj_tx_zalloc(sizeof(struct node), 1);

		((struct node *)pmemobj_direct(o))->next = r->head;
		TX_ADD_DIRECT(&r->head);
		TX_ADD_DIRECT((uint64_t *)&r->count);
		r->head = o;
		r->count++;
	}
	TX_END
}

static uint64_t count(const struct root *r)
{
	uint64_t n = 0;

	for (PMEMoid o = r->head; !OID_IS_NULL(o); o = ((struct node *)pmemobj_direct(o))->next)
		n++;
	return n;
}

int main(int argc, char **argv)
{
	const char *way = argv[argc - 1];
	PMEMobjpool *pop = strcmp(way, "create") == 0 ? pmemobj_create(argv[1], "list", PMEMOBJ_MIN_POOL, 0666) :
							pmemobj_open(argv[1], "list");
	struct root *r;

	CHECK(argc == 3 && pop);
	r = pmemobj_direct(pmemobj_root(pop, sizeof *r));
	if (strcmp(way, "run") == 0 || strcmp(way, "leave") == 0) {
		for (int i = 0; i < NODES; i++)
			add(pop, r);
		if (way[0] == 'l')
			r->count += 100; /* last */
	} else if (strcmp(way, "create") != 0) {
		if (strcmp(way, "believe") == 0)
			printf("%d\n", (int)r->count);
		r->count = count(r);
		pmemobj_persist(pop, (uint64_t *)&r->count, sizeof r->count);
		printf("%d\n", (int)r->count);
	}
	pmemobj_close(pop);
	return 0;
}
