// Logs that repeat what was logged, in loops.
#include <cstdint>
#include <libpmemobj.h>
#include <stdexcept>

namespace pm {

template <typename T> void snapshot(const T *what)
{
	if (pmemobj_tx_add_range_direct(what, sizeof(T)))
		throw std::runtime_error("snapshot");
}

template <typename F> void run(PMEMobjpool *pop, F &&work)
{
	if (pmemobj_tx_begin(pop, nullptr, TX_PARAM_NONE))
		throw std::runtime_error("begin");
	work();
	pmemobj_tx_commit();
	pmemobj_tx_end();
}

template <typename T> class prop {
public:
	prop &operator+=(const T &by)
	{
		snapshot(&value);
		value = value + by;
		return *this;
	}
	operator T() const { return value; }

private:
	T value;
};

class tally {
public:
	void add(PMEMobjpool *pop, const uint64_t *from, unsigned n)
	{
		run(pop, [&] {
			for (unsigned i = 0; i < n; i++) {
				if (from[i] == 7)
					continue;
				total_ += uint64_t(from[i]); /* BUG: tx-redundant-add */
			}
		});
	}

	// what it is so far decides
	void fill(PMEMobjpool *pop, uint64_t by)
	{
		run(pop, [&] {
			while (total_ < 100) {
				total_ += uint64_t(by); /* BUG: tx-redundant-add, suggested: not in a loop that logs the same */
			}
		});
	}

	// a function that is called in the loop looks at it
	void follow(PMEMobjpool *pop, unsigned n)
	{
		run(pop, [&] {
			for (unsigned i = 0; i < n; i++) {
				total_ += uint64_t(next()); /* BUG: tx-redundant-add, suggested: not in a loop that logs the same */
			}
		});
	}

	void last(PMEMobjpool *pop, const uint64_t *from, unsigned n)
	{
		run(pop, [&] {
			for (unsigned i = 0; i < n; i++) {
				snapshot(&last_); /* BUG: tx-redundant-add */
				last_ += from[i];
			}
		});
	}

	// another one each time
	void all(PMEMobjpool *pop, unsigned n)
	{
		run(pop, [&] {
			for (unsigned i = 0; i < n; i++) {
				snapshot(&each_[i]); /* BUG: tx-redundant-add, suggested: not in a loop that logs the same */
				each_[i]++;
			}
		});
	}

private:
	uint64_t next() const { return total_ + 1; }

	prop<uint64_t> total_;
	uint64_t last_, each_[8];
};

void use(PMEMobjpool *pop, tally *t, const uint64_t *from, unsigned n);
void use(PMEMobjpool *pop, tally *t, const uint64_t *from, unsigned n)
{
	t->add(pop, from, n);
	t->fill(pop, n);
	t->follow(pop, n);
	t->last(pop, from, n);
	t->all(pop, n);
}

} // namespace pm
