/* Pointers into the pool. This file logs by the macros for them. */
#include <libpmemobj.h>

struct cell {
	uint64_t a, b;
	struct {
		uint32_t x, y;
	} at[4];
	struct cell *next;
};

int cell_set(PMEMobjpool *pop, struct cell *c, uint64_t value)
{
	TX_BEGIN(pop) {
		TX_ADD_FIELD_DIRECT(c, a);
		c->a = value;
		c->b = value; /* BUG: tx-missing-add */
		c->at[value & 3].x = 1; /* BUG: tx-missing-add */
		c->next->a = 0; /* BUG: tx-missing-add */
	} TX_END
	return pmemobj_tx_errno();
}

void cell_clear(PMEMobjpool *pop, struct cell *c, uint64_t *sum, size_t n)
{
	TX_BEGIN(pop) {
		*sum = 0; /* BUG: tx-missing-add */
		sum[n] = 1; /* BUG: tx-missing-add */
		if (n > 1) c->a = 0; /* BUG: tx-missing-add */
		else
			c->b = 0; /* BUG: tx-missing-add */
	} TX_END
}

/* the log is part of the patch's own order: the pointer moves first */
void cell_walk(PMEMobjpool *pop, struct cell *c)
{
	TX_BEGIN(pop) {
		while (c) {
			c->a = 1; /* BUG: tx-missing-add */
			c = c->next;
		}
	} TX_END
}
