/* This file logs whole objects, by their pointers. */
#include <libpmemobj.h>
#include <stdbool.h>

struct account {
	uint64_t balance, changes;
	bool is_open;
};

static inline void account_close(struct account *a)
{
	TX_ADD_DIRECT(a);
	a->is_open = false;
}

int transfer(PMEMobjpool *pop, struct account *from, struct account *to, uint64_t amount)
{
	int ret = 0;

	TX_BEGIN(pop) {
		TX_ADD_DIRECT(from);
		from->balance -= amount;
		from->changes++;
		TX_ADD_DIRECT(to);
		to->balance += amount; /* BUG: tx-missing-add */
		to->changes++; /* BUG: tx-missing-add */
		account_close(from);
	} TX_ONABORT {
		ret = -1;
	} TX_END
	return ret;
}

int reopen(PMEMobjpool *pop, struct account *a)
{
	int ret = 0;

	TX_BEGIN(pop) {
		TX_ADD_DIRECT(a);
		a->is_open = true; /* BUG: tx-missing-add */
	} TX_ONABORT {
		ret = -1;
	} TX_END
	return ret;
}
