#ifndef TWO_H
#define TWO_H

#include <libpmemobj.h>
#include <stdint.h>

struct account {
	uint64_t balance;
	char pad[120];
};

struct bank {
	struct account from, to;
};

void give(PMEMobjpool *pop, struct account *a, uint64_t amount);
void give_tx(PMEMobjpool *pop, struct account *a, uint64_t amount);

#endif
