/* libpmemobj without transactions, as it should be used: everything that allocates, copies, and links atomic lists. */
#include <libpmemobj.h>

#include "corpus.h"

POBJ_LAYOUT_BEGIN(atomic);
POBJ_LAYOUT_ROOT(atomic, struct root);
POBJ_LAYOUT_TOID(atomic, struct node);
POBJ_LAYOUT_END(atomic);

struct node {
	uint64_t value;
	POBJ_LIST_ENTRY(struct node) entry;
};

struct root {
	PMEMoid object, string, wide;
	_Alignas(64) char text[8192];
	POBJ_LIST_HEAD(list, struct node) list;
	POBJ_LIST_HEAD(others, struct node) others;
};

static int construct(PMEMobjpool *pop, void *addr, void *arg)
{
	struct node *node = addr;

	node->value = *(uint64_t *)arg;
	pmemobj_persist(pop, &node->value, sizeof node->value);
	return 0;
}

static int refuse(PMEMobjpool *pop, void *addr, void *arg)
{
	(void)pop;
	(void)addr;
	(void)arg;
	return -1;
}

static void allocating(PMEMobjpool *pop, struct root *r)
{
	uint64_t value = 3;

	CHECK(pmemobj_alloc(pop, &r->object, sizeof(struct node), 1, construct, &value) == 0);
	CHECK(pmemobj_alloc(pop, NULL, sizeof(struct node), 1, refuse, NULL) == -1);
	CHECK(pmemobj_realloc(pop, &r->object, 4000, 1) == 0);
	CHECK(pmemobj_realloc(pop, &r->object, 40, 1) == 0);
	CHECK(pmemobj_zrealloc(pop, &r->object, 100000, 1) == 0);
	CHECK(pmemobj_zalloc(pop, &r->wide, 700, 2) == 0);
	CHECK(pmemobj_strdup(pop, &r->string, "a string of its own", 3) == 0);
	CHECK(pmemobj_wcsdup(pop, &r->wide, L"another", 2) == 0);
	pmemobj_free(&r->string);
	pmemobj_free(&r->wide);
	pmemobj_free(&r->object);
}

static void reserving(PMEMobjpool *pop, struct root *r)
{
	struct pobj_action actions[2];
	PMEMoid oid = pmemobj_reserve(pop, &actions[0], 100, 1);

	CHECK(!OID_IS_NULL(oid));
	pmemobj_memset_persist(pop, pmemobj_direct(oid), 'r', 100);
	pmemobj_set_value(pop, &actions[1], &r->object.off, oid.off);
	CHECK(pmemobj_publish(pop, actions, 2) == 0);
	oid = pmemobj_reserve(pop, &actions[0], 100, 1);
	pmemobj_cancel(pop, actions, 1);
}

static void copying(PMEMobjpool *pop, struct root *r)
{
	static char bytes[4096];

	memset(bytes, 'b', sizeof bytes);
	pmemobj_memcpy_persist(pop, r->text + 3, bytes, 10);
	pmemobj_memcpy_persist(pop, r->text + 100, bytes, sizeof bytes);
	pmemobj_memset_persist(pop, r->text + 77, 'c', 2000);
	pmemobj_memmove(pop, r->text + 50, r->text + 77, 300, PMEMOBJ_F_MEM_NODRAIN);
	pmemobj_memset(pop, r->text + 4200, 'd', 1000, PMEMOBJ_F_MEM_NODRAIN | PMEMOBJ_F_MEM_NONTEMPORAL);
	pmemobj_memcpy(pop, r->text + 6000, bytes, 100, PMEMOBJ_F_MEM_NODRAIN | PMEMOBJ_F_MEM_TEMPORAL);
	pmemobj_drain(pop);
	strcpy(r->text, "by hand");
	pmemobj_flush(pop, r->text, 8);
	pmemobj_drain(pop);
	r->text[200] = 1;
	CHECK(pmemobj_xpersist(pop, r->text + 200, 1, PMEMOBJ_F_RELAXED) == 0);
}

static void lists(PMEMobjpool *pop, struct root *r)
{
	struct list *list = (struct list *)&r->list;
	struct others *others = (struct others *)&r->others;
	TOID(struct node) node;
	uint64_t value;

	for (value = 0; value < 3; value++)
		POBJ_LIST_INSERT_NEW_TAIL(pop, list, entry, sizeof(struct node), construct, &value);
	node = POBJ_LIST_FIRST(list);
	POBJ_LIST_INSERT_NEW_AFTER(pop, list, node, entry, sizeof(struct node), construct, &value);
	POBJ_LIST_INSERT_NEW_BEFORE(pop, list, node, entry, sizeof(struct node), construct, &value);
	POBJ_LIST_MOVE_ELEMENT_HEAD(pop, list, others, node, entry, entry);
	CHECK(POBJ_LIST_REMOVE(pop, others, node, entry) == 0);
	POBJ_LIST_INSERT_HEAD(pop, list, node, entry);
	CHECK(POBJ_LIST_REMOVE_FREE(pop, list, node, entry) == 0);
	CHECK(POBJ_LIST_EMPTY(others) && !POBJ_LIST_EMPTY(list));
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;
	struct root *r;

	CHECK(argc == 2);
	pop = pmemobj_create(argv[1], POBJ_LAYOUT_NAME(atomic), 4 * PMEMOBJ_MIN_POOL, 0666);
	CHECK(pop);
	r = D_RW(POBJ_ROOT(pop, struct root));
	allocating(pop, r);
	reserving(pop, r);
	copying(pop, r);
	lists(pop, r);
	pmemobj_close(pop);
	CHECK(pmemobj_check(argv[1], POBJ_LAYOUT_NAME(atomic)) == 1);
	return 0;
}
