/* libpmemobj's transactions: bytes that are logged twice in one. */
#include <libpmemobj.h>

#include "corpus.h"

TOID_DECLARE(struct node, 0);
TOID_DECLARE_ROOT(struct root);

struct node {
	uint64_t value;
	TOID(struct node) next;
};

struct root {
	uint64_t a, b, c;
	char text[128];
	TOID(struct node) head;
};

static void twice_by_object(PMEMobjpool *pop, TOID(struct root) r)
{
	TX_BEGIN(pop)
	{
		TX_ADD_FIELD(r, a);
		D_RW(r)->a = 1;
		TX_ADD_FIELD(r, a); /* BUG: tx-redundant-add */
		D_RW(r)->a = 2;
	}
	TX_END
}

static void twice_by_address(PMEMobjpool *pop, TOID(struct root) r)
{
	TX_BEGIN(pop)
	{
		pmemobj_tx_add_range_direct(&D_RW(r)->a, 8);
		D_RW(r)->a = 1;
		pmemobj_tx_xadd_range_direct(&D_RW(r)->a, 8, 0); /* BUG: tx-redundant-add */
		D_RW(r)->a = 2;
	}
	TX_END
}

static void by_address_then_object(PMEMobjpool *pop, TOID(struct root) r)
{
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&D_RW(r)->b);
		D_RW(r)->b = 1;
		pmemobj_tx_xadd_range(r.oid, offsetof(struct root, b), 8, 0); /* BUG: tx-redundant-add */
		D_RW(r)->b = 2;
	}
	TX_END
}

static void part_of_what_is_logged(PMEMobjpool *pop, TOID(struct root) r)
{
	TX_BEGIN(pop)
	{
		TX_ADD(r);
		D_RW(r)->a = 1;
		TX_ADD_DIRECT(&D_RW(r)->text[64]); /* BUG: tx-redundant-add */
		D_RW(r)->text[64] = 2;
	}
	TX_END
}

/* The second needs logging for its other half. */
static void overlapping(PMEMobjpool *pop, TOID(struct root) r)
{
	char *text = D_RW(r)->text;

	TX_BEGIN(pop)
	{
		pmemobj_tx_add_range_direct(text, 64);
		memset(text, 'x', 64);
		pmemobj_tx_add_range_direct(text + 32, 64);
		memset(text + 32, 'y', 64);
	}
	TX_END
}

static __attribute__((noinline)) void increment(PMEMobjpool *pop, TOID(struct root) r)
{
	TX_BEGIN(pop)
	{
		TX_ADD_FIELD(r, c); /* BUG: tx-redundant-add */
		D_RW(r)->c++;
	}
	TX_END
}

/* Each in a transaction of its own is right; the inner one belongs to the outer one. */
static void nested(PMEMobjpool *pop, TOID(struct root) r)
{
	increment(pop, r);
	TX_BEGIN(pop)
	{
		TX_ADD_FIELD(r, c);
		D_RW(r)->c = 7;
		increment(pop, r);
	}
	TX_END
}

static void insert(PMEMobjpool *pop, TOID(struct root) r)
{
	TX_BEGIN(pop)
	{
		TOID(struct node) node = TX_NEW(struct node);

		TX_ADD(node); /* BUG: tx-redundant-add */
		D_RW(node)->value = 1;
		D_RW(node)->next = D_RO(r)->head;
		TX_ADD_FIELD(r, head);
		D_RW(r)->head = node;
	}
	TX_END
}

/* The transaction before it ended, whatever way: its log is gone. */
static void again_after_abort(PMEMobjpool *pop, TOID(struct root) r)
{
	TX_BEGIN(pop)
	{
		TX_ADD_FIELD(r, a);
		D_RW(r)->a = 3;
		pmemobj_tx_abort(-1);
	}
	TX_END
	TX_BEGIN(pop)
	{
		TX_ADD_FIELD(r, a);
		D_RW(r)->a = 4;
	}
	TX_END
}

int main(int argc, char **argv)
{
	TOID(struct root) r;
	PMEMobjpool *pop;

	CHECK(argc == 2);
	pop = pmemobj_create(argv[1], "corpus", PMEMOBJ_MIN_POOL, 0666);
	CHECK(pop);
	r = (TOID(struct root))pmemobj_root(pop, sizeof(struct root));
	increment(pop, r);
	part_of_what_is_logged(pop, r);
	twice_by_object(pop, r);
	twice_by_address(pop, r);
	by_address_then_object(pop, r);
	overlapping(pop, r);
	nested(pop, r);
	insert(pop, r);
	again_after_abort(pop, r);
	pmemobj_close(pop);
	return 0;
}
