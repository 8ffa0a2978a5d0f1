// Classes over libpmemobj: a transaction as an object, one that runs a lambda, and a function that logs what it is given.
#include <cstdint>
#include <functional>
#include <libpmemobj.h>
#include <stdexcept>

namespace pm {

class transaction {
public:
	explicit transaction(PMEMobjpool *pop)
	{
		if (pmemobj_tx_begin(pop, nullptr, TX_PARAM_NONE))
			throw std::runtime_error("begin");
	}

	~transaction()
	{
		if (pmemobj_tx_stage() == TX_STAGE_WORK)
			pmemobj_tx_commit();
		pmemobj_tx_end();
	}

	template <typename T> static void snapshot(const T *what, size_t n = 1)
	{
		if (pmemobj_tx_add_range_direct(what, sizeof(T) * n))
			throw std::runtime_error("snapshot");
	}
};

template <typename F> void run(PMEMobjpool *pop, F &&work)
{
	transaction tx(pop);

	work();
}

struct counter {
	uint64_t value, changes;

	void set(PMEMobjpool *pop, uint64_t v)
	{
		transaction tx(pop);

		transaction::snapshot(&value);
		value = v;
		changes++; /* BUG: tx-missing-add */
	}
};

void reset(PMEMobjpool *pop, counter &c);
void reset(PMEMobjpool *pop, counter &c)
{
	run(pop, [&] {
		transaction::snapshot(&c.value);
		c.value = 0;
		c.changes = 0; /* BUG: missing-flush-fence */
	});
}

// the lambda becomes an object on its way
void run_any(PMEMobjpool *pop, const std::function<void()> &work);
void run_any(PMEMobjpool *pop, const std::function<void()> &work)
{
	transaction tx(pop);

	work();
}

void halve(PMEMobjpool *pop, counter &c);
void halve(PMEMobjpool *pop, counter &c)
{
	run_any(pop, [&] {
		c.value /= 2; /* BUG: tx-missing-add */
	});
}

} // namespace pm
