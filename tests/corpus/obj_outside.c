/* libpmemobj: stores outside any transaction to what transactions modify. */
#include <libpmemobj.h>

#include "corpus.h"

#define PUT(field, value) (*(volatile uint64_t *)&(field) = (value))

struct account {
	_Alignas(64) uint64_t balance;
	uint64_t nbookings;
	_Alignas(64) uint64_t limit;
};

struct root {
	_Alignas(64) uint64_t counter;
	_Alignas(64) uint64_t lost;
	_Alignas(64) uint64_t other;
	struct account torn, torn_at_the_end;
};

static void book(PMEMobjpool *pop, struct account *a, uint64_t amount)
{
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(a);
		PUT(a->balance, a->balance + amount);
		PUT(a->nbookings, a->nbookings + 1);
		PUT(a->limit, 2 * a->balance);
	}
	TX_END
}

static void count(PMEMobjpool *pop, uint64_t *counter)
{
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(counter);
		PUT(*counter, *counter + 1);
	}
	TX_END
}

/* The next commit writes the line back, long after. */
static void persisted_by_a_later_commit(PMEMobjpool *pop, struct root *r)
{
	count(pop, &r->counter);
	PUT(r->counter, 0); /* BUG: tx-store-outside */
	count(pop, &r->counter);
}

static void never_persisted(PMEMobjpool *pop, struct root *r)
{
	count(pop, &r->lost);
	PUT(r->lost, 0); /* BUG: tx-store-outside */ /* CAUSED: missing-flush */
	count(pop, &r->other);
}

/* Persisted, but a crash between the two stores reaches only one of them. */
static void two_words_then_a_transaction(PMEMobjpool *pop, struct account *a)
{
	book(pop, a, 10);
	PUT(a->balance, 0); /* BUG: tx-store-outside */
	PUT(a->nbookings, 0);
	pmemobj_persist(pop, a, 16);
	book(pop, a, 20);
}

static void two_lines_then_nothing(PMEMobjpool *pop, struct account *a)
{
	book(pop, a, 10);
	PUT(a->balance, 0); /* BUG: tx-store-outside */
	PUT(a->limit, 0);
	pmemobj_persist(pop, a, sizeof *a);
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;
	struct root *r;

	CHECK(argc == 2);
	pop = pmemobj_create(argv[1], "corpus", PMEMOBJ_MIN_POOL, 0666);
	CHECK(pop);
	r = align(pmemobj_direct(pmemobj_root(pop, sizeof *r + LINE_BYTES)));
	persisted_by_a_later_commit(pop, r);
	never_persisted(pop, r);
	two_words_then_a_transaction(pop, &r->torn);
	two_lines_then_nothing(pop, &r->torn_at_the_end);
	pmemobj_close(pop);
	return 0;
}
