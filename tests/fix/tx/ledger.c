/* A ledger in transactions that log most of what they change. What each lacks is marked: the line that its author would write stands there in a comment.
 * PROG POOL run | check, as ../order/main.h has it. */
#include "main.h"

TOID_DECLARE(struct entry, 1);
TOID_DECLARE_ROOT(struct ledger);

struct entry {
	uint64_t id, amount;
	TOID(struct entry) next;
};

struct ledger {
	TOID(struct entry) first;
	uint64_t nentries;
	char pad[112];
	uint64_t sum;
};

static void sum_add(TOID(struct ledger) ledger, uint64_t amount)
{
	/* TX_ADD_FIELD(ledger, sum); */
	D_RW(ledger)->sum += amount;
}

static int ledger_add(PMEMobjpool *pop, TOID(struct ledger) ledger, uint64_t id, uint64_t amount)
{
	int ret = 0;

	TX_BEGIN(pop) {
		TOID(struct entry) e = TX_NEW(struct entry);

		D_RW(e)->id = id;
		D_RW(e)->amount = amount;
		D_RW(e)->next = D_RO(ledger)->first;
		TX_ADD_FIELD(ledger, first);
		D_RW(ledger)->first = e;
		/* TX_ADD_FIELD(ledger, nentries); */
		D_RW(ledger)->nentries++;
		sum_add(ledger, amount);
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

static void work(PMEMobjpool *pop)
{
	TOID(struct ledger) ledger = POBJ_ROOT(pop, struct ledger);

	for (uint64_t i = 1; i <= 2; i++) {
		if (ledger_add(pop, ledger, i, 10 * i))
			exit(2);
		done("added\n");
	}
}

static const char *judge(PMEMobjpool *pop)
{
	TOID(struct ledger) ledger = POBJ_ROOT(pop, struct ledger);
	uint64_t n = 0, sum = 0;

	for (TOID(struct entry) e = D_RO(ledger)->first; !TOID_IS_NULL(e); e = D_RO(e)->next) {
		sum += D_RO(e)->amount;
		n++;
	}
	return n != D_RO(ledger)->nentries ? "entries are lost" : sum != D_RO(ledger)->sum ? "the sum is wrong" : NULL;
}
