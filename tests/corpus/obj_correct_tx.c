/* libpmemobj's transactions as they should be used: nested, aborted inside and outside, with everything that allocates. */
#include <libpmemobj.h>

#include "corpus.h"

struct root {
	uint64_t counter, other[8];
	char text[2048];
	PMEMoid object, string, grown;
	PMEMrwlock lock;
};

static struct root *root_of(PMEMobjpool *pop)
{
	return pmemobj_direct(pmemobj_root(pop, sizeof(struct root)));
}

static void set(struct root *r, uint64_t value)
{
	CHECK(pmemobj_tx_add_range_direct(&r->counter, sizeof r->counter) == 0);
	r->counter = value;
}

static void nested(PMEMobjpool *pop, struct root *r)
{
	TX_BEGIN(pop)
	{
		set(r, 1);
		TX_BEGIN(pop)
		{
			pmemobj_tx_add_range_direct(r->other, sizeof r->other);
			r->other[7] = 2;
			TX_BEGIN(pop)
			{
				TX_MEMSET(r->text, 'x', 700);
			}
			TX_END
		}
		TX_END
		pmemobj_tx_xadd_range_direct(r->text + 1024, 512, POBJ_XADD_NO_SNAPSHOT);
		memset(r->text + 1024, 'n', 512);
	}
	TX_ONABORT
	{
		CHECK(0);
	}
	TX_END
}

/* An abort of the inner transaction ends the outer one, too. */
static void aborted(PMEMobjpool *pop, struct root *r)
{
	volatile int naborts = 0;

	TX_BEGIN(pop)
	{
		set(r, 100);
		TX_BEGIN(pop)
		{
			TX_MEMCPY(r->text, "gone", 5);
			pmemobj_tx_abort(1);
		}
		TX_ONABORT
		{
			naborts++;
		}
		TX_END
		CHECK(0);
	}
	TX_ONABORT
	{
		naborts++;
	}
	TX_FINALLY
	{
		naborts++;
	}
	TX_END
	CHECK(naborts == 3 && r->counter == 1 && r->text[0] == 'x');
}

static void allocating(PMEMobjpool *pop, struct root *r)
{
	TX_BEGIN_PARAM(pop, TX_PARAM_RWLOCK, &r->lock, TX_PARAM_NONE)
	{
		pmemobj_tx_add_range_direct(&r->object, 3 * sizeof r->object);
		r->object = pmemobj_tx_zalloc(300, 1);
		((char *)pmemobj_direct(r->object))[299] = 1;
		r->string = pmemobj_tx_strdup("a string of its own", 2);
		r->grown = pmemobj_tx_alloc(64, 3);
		memset(pmemobj_direct(r->grown), 'g', 64);
	}
	TX_ONABORT
	{
		CHECK(0);
	}
	TX_END
	TX_BEGIN(pop)
	{
		pmemobj_tx_add_range_direct(&r->object, 3 * sizeof r->object);
		r->grown = pmemobj_tx_realloc(r->grown, 5000, 3);
		r->object = pmemobj_tx_zrealloc(r->object, 9000, 1);
		pmemobj_tx_free(r->string);
		r->string = OID_NULL;
	}
	TX_ONABORT
	{
		CHECK(0);
	}
	TX_END
}

static void allocating_aborted(PMEMobjpool *pop, struct root *r)
{
	PMEMoid before = r->object;

	TX_BEGIN(pop)
	{
		pmemobj_tx_add_range_direct(&r->object, 3 * sizeof r->object);
		r->string = pmemobj_tx_strdup("not for long", 2);
		pmemobj_tx_free(r->object);
		r->object = pmemobj_tx_alloc(100000, 1);
		memset(pmemobj_direct(r->object), 'a', 100);
		r->grown = pmemobj_tx_realloc(r->grown, 20000, 3);
		pmemobj_tx_abort(1);
	}
	TX_END
	CHECK(OID_EQUALS(before, r->object) && OID_IS_NULL(r->string));
}

/* What is stored behind the commit, or the abort, is outside, and persisted by itself. */
static void when_it_is_over(PMEMobjpool *pop, struct root *r)
{
	TX_BEGIN(pop)
	{
		set(r, 1);
	}
	TX_ONCOMMIT
	{
		r->other[1] = 1;
		pmemobj_persist(pop, &r->other[1], sizeof r->other[1]);
	}
	TX_FINALLY
	{
		r->other[2] = 1;
		pmemobj_persist(pop, &r->other[2], sizeof r->other[2]);
	}
	TX_END
	TX_BEGIN(pop)
	{
		set(r, 100);
		pmemobj_tx_abort(1);
	}
	TX_ONABORT
	{
		r->other[3] = 1;
		pmemobj_persist(pop, &r->other[3], sizeof r->other[3]);
	}
	TX_END
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;
	struct root *r;

	CHECK(argc == 2);
	pop = pmemobj_create(argv[1], "tx", 4 * PMEMOBJ_MIN_POOL, 0666);
	CHECK(pop);
	r = root_of(pop);
	nested(pop, r);
	aborted(pop, r);
	allocating(pop, r);
	allocating_aborted(pop, r);
	when_it_is_over(pop, r);
	pmemobj_close(pop);

	pop = pmemobj_open(argv[1], "tx");
	CHECK(pop);
	r = root_of(pop);
	CHECK(r->counter == 1 && r->other[7] == 2);
	nested(pop, r);
	pmemobj_close(pop);
	return 0;
}
