#include "two.h"

void give(PMEMobjpool *pop, struct account *a, uint64_t amount)
{
	a->balance += amount;
	pmemobj_persist(pop, &a->balance, sizeof a->balance);
}

void give_tx(PMEMobjpool *pop, struct account *a, uint64_t amount)
{
	pmemobj_tx_add_range_direct(&a->balance, sizeof(a->balance));
	a->balance += amount;
	pmemobj_persist(pop, &a->balance, sizeof a->balance);
}
