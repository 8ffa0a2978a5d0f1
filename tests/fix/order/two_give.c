#include "two.h"

void give(PMEMobjpool *pop, struct account *a, uint64_t amount)
{
	a->balance += amount;
	pmemobj_persist(pop, &a->balance, sizeof a->balance);
}
