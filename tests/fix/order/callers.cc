// Nothing here runs a transaction, and what is called may throw: C macros would leave it open.
#include <cstdint>
#include <libpmemobj.h>
#include <stdexcept>

struct seat {
	uint64_t row, taken;
};

static void check(const seat *s)
{
	if (s->taken > 1)
		throw std::runtime_error("taken twice");
}

void take(PMEMobjpool *pop, seat *s)
{
	s->row++; /* TX, left: an exception would leave the transaction that take needs open */
	check(s);
	s->taken = 1; /* TX */
	pmemobj_persist(pop, s, sizeof(*s));
}
