/* ptally.h - how many there were, and how much that is altogether. */
#ifndef PTALLY_H
#define PTALLY_H

#include <libpmemobj.h>
#include <stdint.h>

struct ptally {
	uint64_t count;
	uint64_t sum;
};

/* Part of a transaction. */
static inline void ptally_add(struct ptally *t, uint64_t amount)
{
	TX_ADD_DIRECT(t);
	t->count++;
	t->sum += amount;
}

#endif
