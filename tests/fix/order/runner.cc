// A function that runs a lambda in a transaction is how this file writes one: exceptions end it.
#include <cerrno>
#include <cstdint>
#include <libpmemobj.h>
#include <stdexcept>
#include <utility>

template <typename F>
static void atomically(PMEMobjpool *pool, F &&work)
{
	if (pmemobj_tx_begin(pool, nullptr, TX_PARAM_NONE) != 0)
		throw std::runtime_error("begin");
	try {
		work();
	} catch (...) {
		pmemobj_tx_abort(ECANCELED);
		(void)pmemobj_tx_end();
		throw;
	}
	pmemobj_tx_commit();
	if (pmemobj_tx_end() != 0)
		throw std::runtime_error("end");
}

struct account {
	uint64_t balance, moves;
};

void spend(PMEMobjpool *pool, account *a, uint64_t by)
{
	atomically(pool, [&] {
		pmemobj_tx_add_range_direct(a, sizeof(*a));
		a->balance -= by;
		a->moves++;
	});
}

void transfer(PMEMobjpool *pop, account *from, account *to, uint64_t by)
{
	from->balance -= by; /* TX */
	if (from->balance > 1000000)
		throw std::range_error("too little");
	to->balance += by; /* TX */
	pmemobj_persist(pop, from, sizeof(*from));
}

// a lambda cannot return from here
bool move(PMEMobjpool *pop, account *from, account *to, uint64_t by)
{
	from->balance -= by; /* TX, left: which would be a lambda */
	if (from->balance > 1000000)
		return false;
	to->balance += by; /* TX */
	pmemobj_persist(pop, to, sizeof(*to));
	return true;
}
