// Methods that flush: static ones, of a base class, of the object itself; a function of a namespace.
#include <cstddef>
#include <cstdint>

#include "tests/fix/ways/machine.h"

namespace pm {

inline void save(const void *from, std::size_t len)
{
	for (std::uintptr_t at = reinterpret_cast<std::uintptr_t>(from) & ~std::uintptr_t(63); at < reinterpret_cast<std::uintptr_t>(from) + len; at += 64)
		MACHINE_FLUSH(at);
	MACHINE_FENCE();
}

} // namespace pm

class node {
public:
	void set(uint64_t k)
	{
		key = k;
		keep();
	}

	void add(uint64_t v)
	{
		value += v; /* BUG: missing-flush-fence */
	}

	uint64_t key, value;

private:
	void keep() { pm::save(this, sizeof(*this)); }
};

void outside(node *n, uint64_t &count);
void outside(node *n, uint64_t &count)
{
	n->value = 1; /* BUG: missing-flush-fence */
	count = 1;
	pm::save(&count, sizeof count);
}
