/* This file has functions and macros of its own that log. */
#include <libpmemobj.h>
#include <stdlib.h>

struct item {
	uint64_t key, value;
	struct item *next;
};

static void undo_log(const void *addr, size_t len)
{
	if (pmemobj_tx_add_range_direct(addr, len))
		abort();
}

#define UNDO(what) undo_log(&(what), sizeof(what))

void item_set(PMEMobjpool *pop, struct item *i, uint64_t value)
{
	TX_BEGIN(pop) {
		UNDO(i->value);
		i->value = value;
		i->key = value; /* BUG: tx-missing-add */
	} TX_END
}
