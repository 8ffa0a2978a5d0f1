/* libpmemobj's transactions that are open when their operation ends, or the program; and those that are not, or that belong to more than one operation. That one
 * does not end explains what it would make durable, and nothing else. */
#include <libpmemobj.h>
#include <stdbool.h>
#include <valgrind/valgrind.h>

#include "corpus.h"

enum { PMC_TX_IGNORE = VG_USERREQ_TOOL_BASE('P', 'C') + 28 };

struct root {
	_Alignas(64) uint64_t a, b, steps[2];
	_Alignas(64) uint64_t apart;
};

static void set(PMEMobjpool *pop, struct root *r, uint64_t value, bool leaves)
{
	PMEND_OP_BEGIN("set");
	pmemobj_tx_begin(pop, NULL, TX_PARAM_NONE); /* BUG: tx-not-ended */
	pmemobj_tx_add_range_direct(&r->a, sizeof r->a);
	r->a = value;
	if (!leaves) {
		pmemobj_tx_commit();
		pmemobj_tx_end();
	}
	PMEND_OP_END("set");
	if (leaves) { /* too late: the operation was said to be done */
		pmemobj_tx_commit();
		pmemobj_tx_end();
	}
}

/* One transaction around two operations, with another inside. */
static void batch(PMEMobjpool *pop, struct root *r)
{
	TX_BEGIN(pop)
	{
		for (uint64_t i = 0; i < 2; i++) {
			PMEND_OP_BEGIN("step");
			TX_BEGIN(pop)
			{
				TX_ADD_DIRECT(&r->steps[i]);
				r->steps[i] = i + 1;
			}
			TX_END
			PMEND_OP_END("step");
		}
	}
	TX_END
}

static void aborted(PMEMobjpool *pop, struct root *r)
{
	PMEND_OP_BEGIN("aborted");
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&r->b);
		r->b = 9;
		pmemobj_tx_abort(1);
	}
	TX_END
	PMEND_OP_END("aborted");
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop = pmemobj_create(argv[argc - 1], "not_ended", PMEMOBJ_MIN_POOL, 0600);
	struct root *r = pmemobj_direct(pmemobj_root(pop, sizeof *r));

	set(pop, r, 1, false);
	batch(pop, r);
	aborted(pop, r);
	set(pop, r, 2, true);
	pmemobj_tx_begin(pop, NULL, TX_PARAM_NONE); /* BUG: tx-not-ended */
	pmemobj_tx_add_range_direct(&r->b, sizeof r->b);
	r->b = 3; /* CAUSED: missing-flush-fence */
	VALGRIND_DO_CLIENT_REQUEST_STMT(PMC_TX_IGNORE, &r->apart, 8, 0, 0, 0);
	r->apart = 1; /* BUG: missing-flush-fence */
	_exit(0);
}
