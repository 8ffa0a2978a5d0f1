/* Macros that store in transactions: they log it themselves, in their own style. */
#include <libpmemobj.h>

struct ring {
	uint64_t slots[8], head, lost;
	struct ring *other;
};

/* backslashes in one column, by blanks */
#define SET_PUSH(ring, value)                                    \
	do {                                                     \
		TX_ADD_DIRECT(&(ring)->head);                    \
		(ring)->slots[(ring)->head % 8] = (value);       \
		(ring)->head++;                                  \
	} while (0)

/* by tabs; and only one of two ways needs it */
#define SET_OTHER(ring, value)					\
	do {							\
		if ((ring)->other) {				\
			(ring)->other->lost = (value);		\
		} else {					\
			TX_ADD_DIRECT(&(ring)->lost);		\
			(ring)->lost = (value);			\
		}						\
	} while (0)

#define SET_LOST(ring, value) do { TX_ADD_DIRECT(&(ring)->head); (ring)->head = 0; (ring)->lost = (value); } while (0)

/* nobody can tell which of two it is */
#define SET_BOTH(ring, value)                 \
	do {                                  \
		TX_ADD_DIRECT(&(ring)->head); \
		(ring)->head = (value);       \
		(ring)->lost = (value);       \
		(ring)->slots[0] = (value);   \
	} while (0)

/* the only thing that it does; who uses it logs */
#define SET_HEAD(ring, value) ((ring)->head = (value))

void ring_push(PMEMobjpool *pop, struct ring *r, uint64_t value)
{
	TX_BEGIN(pop) {
		SET_PUSH(r, value); /* BUG: tx-missing-add */
		SET_OTHER(r, value); /* BUG: tx-missing-add */
	} TX_END
}

void ring_twice(PMEMobjpool *pop, struct ring *r, uint64_t value)
{
	TX_BEGIN(pop) {
		SET_PUSH(r, value); /* BUG: tx-missing-add */
		SET_LOST(r, value); /* BUG: tx-missing-add */
	} TX_END
}

void ring_both(PMEMobjpool *pop, struct ring *r, uint64_t value)
{
	TX_BEGIN(pop) {
		SET_BOTH(r, value); /* BUG: tx-missing-add, left: the store is not found in macro SET_BOTH; check by hand */
	} TX_END
}

void ring_head(PMEMobjpool *pop, struct ring *r)
{
	TX_BEGIN(pop) {
		SET_HEAD(r, 0); /* BUG: tx-missing-add */
	} TX_END
}
