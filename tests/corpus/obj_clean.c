/* pmemcheck's SET_CLEAN, its kin and PMEND_IGNORE, of stores inside and outside of transactions: they hold for what was stored before, too. */
#include <libpmemobj.h>
#include <valgrind/valgrind.h>

#include "corpus.h"

enum { PMC_SET_CLEAN = VG_USERREQ_TOOL_BASE('P', 'C') + 17, PMC_TX_IGNORE = VG_USERREQ_TOOL_BASE('P', 'C') + 28 };

static void declare(unsigned what, const void *addr, size_t len_bytes)
{
	VALGRIND_DO_CLIENT_REQUEST_STMT(what, addr, len_bytes, 0, 0, 0);
}

struct root {
	_Alignas(64) uint64_t logged;
	_Alignas(64) uint64_t hint;
	_Alignas(64) uint64_t cached;
	_Alignas(64) uint64_t stale;
	_Alignas(64) uint64_t left;
	_Alignas(64) uint64_t pair[2];
	_Alignas(64) uint64_t outside;
};

static void inside(PMEMobjpool *pop, struct root *r)
{
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&r->logged);
		r->logged = 1;
		r->hint = 2;
		declare(PMC_SET_CLEAN, &r->hint, 8);
		r->cached = 3;
		PMEND_IGNORE(&r->cached, 8);
		r->left = 4; /* BUG: tx-missing-add */ /* CAUSED: missing-flush */
	}
	TX_END
}

/* What is stored after it was declared clean is not. */
static void stored_again(PMEMobjpool *pop, struct root *r)
{
	(void)pop;
	r->stale = 5;
	declare(PMC_SET_CLEAN, &r->stale, 8);
	r->stale = 6; /* BUG: missing-flush */
}

typedef uint64_t both __attribute__((vector_size(16)));

/* One store, of which one declaration covers the first half and another the second. */
static void in_two_parts(PMEMobjpool *pop, struct root *r)
{
	(void)pop;
	PMEND_IGNORE(&r->pair[1], 8);
	*(volatile both *)r->pair = (both){ 7, 8 };
	declare(PMC_SET_CLEAN, &r->pair[0], 8);
}

/* Transactions modify it; outside, it is not written back, and declared so afterwards. */
static void outside(PMEMobjpool *pop, struct root *r)
{
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&r->outside);
		r->outside = 9;
	}
	TX_END
	r->outside = 10;
	declare(PMC_SET_CLEAN, &r->outside, 8);
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;
	struct root *r;

	CHECK(argc == 2);
	pop = pmemobj_create(argv[1], "corpus", PMEMOBJ_MIN_POOL, 0666);
	CHECK(pop);
	r = align(pmemobj_direct(pmemobj_root(pop, sizeof *r + LINE_BYTES)));
	inside(pop, r);
	stored_again(pop, r);
	in_two_parts(pop, r);
	outside(pop, r);
	pmemobj_close(pop);
	return 0;
}
