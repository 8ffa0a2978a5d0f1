/* Two objects that change together, each in a function of its own, one of which is in another file. */
#include "main.h"
#include "two.h"

static void take(PMEMobjpool *pop, struct account *a, uint64_t amount)
{
	pmemobj_tx_add_range_direct(&a->balance, sizeof(a->balance));
	a->balance -= amount;
	pmemobj_persist(pop, &a->balance, sizeof a->balance);
}

static int transfer(PMEMobjpool *pop, struct bank *bank, uint64_t amount)
{
	if (bank->from.balance < amount)
		return -1;
	TX_BEGIN(pop) {
		take(pop, &bank->from, amount);
		pmemobj_tx_add_range_direct(&bank->to.balance, sizeof(bank->to.balance));
		give(pop, &bank->to, amount);
	} TX_ONABORT {
		abort();
	} TX_END
	return 0;
}

static void work(PMEMobjpool *pop)
{
	struct bank *bank = pmemobj_direct(pmemobj_root(pop, sizeof *bank));

	give(pop, &bank->from, 100);
	done("opened\n");
	if (transfer(pop, bank, 30))
		exit(2);
	done("transferred\n");
	if (transfer(pop, bank, 300) == 0)
		exit(2);
	done("refused\n");
}

static const char *judge(PMEMobjpool *pop)
{
	const struct bank *bank = pmemobj_direct(pmemobj_root(pop, sizeof *bank));
	uint64_t sum = bank->from.balance + bank->to.balance;

	return sum == 0 || sum == 100 ? NULL : "money was lost";
}
