/* libpmemobj as it should be used: nothing of what it does inside is a bug of the program. */
#include <libpmemobj.h>

#include "corpus.h"

POBJ_LAYOUT_BEGIN(corpus);
POBJ_LAYOUT_ROOT(corpus, struct root);
POBJ_LAYOUT_TOID(corpus, struct node);
POBJ_LAYOUT_END(corpus);

struct node {
	uint64_t value;
	POBJ_LIST_ENTRY(struct node) entry;
};

struct root {
	uint64_t counter;
	char text[1024];
	TOID(struct node) current;
	PMEMoid blob;
	PMEMmutex lock;
	POBJ_LIST_HEAD(list, struct node) list;
};

static int construct(PMEMobjpool *pop, void *addr, void *arg)
{
	struct node *node = addr;

	node->value = *(uint64_t *)arg;
	pmemobj_persist(pop, &node->value, sizeof node->value);
	return 0;
}

static void transactions(PMEMobjpool *pop, TOID(struct root) root)
{
	TX_BEGIN(pop)
	{
		TX_ADD_FIELD(root, counter);
		D_RW(root)->counter++;
		TX_ADD_FIELD(root, current);
		D_RW(root)->current = TX_ZNEW(struct node);
		D_RW(D_RW(root)->current)->value = 5;
		TX_BEGIN(pop)
		{
			TX_MEMCPY(D_RW(root)->text, "in a transaction", 17);
		}
		TX_END
	}
	TX_ONABORT
	{
		CHECK(0);
	}
	TX_END

	TX_BEGIN_PARAM(pop, TX_PARAM_MUTEX, &D_RW(root)->lock, TX_PARAM_NONE)
	{
		TX_SET(root, counter, 10);
		TX_ADD_FIELD(root, current);
		TX_FREE(D_RO(root)->current);
		D_RW(root)->current = TX_NEW(struct node);
		D_RW(D_RW(root)->current)->value = 6;
		pmemobj_tx_abort(1);
	}
	TX_END
	CHECK(D_RO(root)->counter == 1 && D_RO(D_RO(root)->current)->value == 5);

	TX_BEGIN(pop)
	{
		TX_FREE(D_RO(root)->current);
		TX_SET(root, current, TOID_NULL(struct node));
	}
	TX_END
}

static void atomics(PMEMobjpool *pop, TOID(struct root) root)
{
	struct root *r = D_RW(root);

	CHECK(pmemobj_alloc(pop, &r->blob, 3000, 7, NULL, NULL) == 0);
	pmemobj_memset_persist(pop, pmemobj_direct(r->blob), 'x', 3000);
	CHECK(pmemobj_zrealloc(pop, &r->blob, 20000, 7) == 0);
	pmemobj_free(&r->blob);
	pmemobj_memcpy_persist(pop, r->text + 100, "outside of any transaction", 27);
	pmemobj_memset_persist(pop, r->text + 200, 0, 500);
	r->counter = 2;
	pmemobj_persist(pop, &r->counter, sizeof r->counter);
	CHECK(pmemobj_mutex_lock(pop, &r->lock) == 0);
	CHECK(pmemobj_mutex_unlock(pop, &r->lock) == 0);
}

static void lists(PMEMobjpool *pop, TOID(struct root) root)
{
	struct list *list = (struct list *)&D_RW(root)->list;
	TOID(struct node) node;
	uint64_t value;

	for (value = 0; value < 5; value++)
		POBJ_LIST_INSERT_NEW_HEAD(pop, list, entry, sizeof(struct node), construct, &value);
	node = POBJ_LIST_NEXT(POBJ_LIST_FIRST(list), entry);
	POBJ_LIST_MOVE_ELEMENT_TAIL(pop, list, list, node, entry, entry);
	POBJ_LIST_REMOVE_FREE(pop, list, node, entry);
	POBJ_LIST_REMOVE_FREE(pop, list, POBJ_LIST_FIRST(list), entry);
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;
	TOID(struct root) root;

	CHECK(argc == 2);
	pop = pmemobj_create(argv[1], POBJ_LAYOUT_NAME(corpus), PMEMOBJ_MIN_POOL, 0666);
	CHECK(pop);
	root = POBJ_ROOT(pop, struct root);
	transactions(pop, root);
	pmemobj_close(pop);

	pop = pmemobj_open(argv[1], POBJ_LAYOUT_NAME(corpus));
	CHECK(pop);
	root = POBJ_ROOT(pop, struct root);
	atomics(pop, root);
	lists(pop, root);
	pmemobj_close(pop);
	CHECK(pmemobj_check(argv[1], POBJ_LAYOUT_NAME(corpus)) == 1);
	return 0;
}
