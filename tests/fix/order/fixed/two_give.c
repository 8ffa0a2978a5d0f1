#include "two.h"

void give(PMEMobjpool *pop, struct account *a, uint64_t amount)
{
	if (pmemobj_tx_stage() == TX_STAGE_WORK && pmemobj_pool_by_ptr(&a->balance))
		pmemobj_tx_add_range_direct(&a->balance, sizeof(a->balance));
	a->balance += amount;
	pmemobj_persist(pop, &a->balance, sizeof a->balance);
}
