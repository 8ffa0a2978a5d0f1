// Templates: of what is given by reference, and by pointer.
#include <cstddef>
#include <cstdint>

#include "tests/fix/ways/machine.h"

namespace pm {

inline void put(const void *from, std::size_t len)
{
	for (std::uintptr_t at = reinterpret_cast<std::uintptr_t>(from) & ~std::uintptr_t(63); at < reinterpret_cast<std::uintptr_t>(from) + len; at += 64)
		MACHINE_FLUSH(at);
	MACHINE_FENCE();
}

template <typename T> void save(const T &what)
{
	put(&what, sizeof(what));
}

} // namespace pm

struct root {
	uint64_t a, b;
};

void correct(root *r);
void correct(root *r)
{
	r->a = 1;
	pm::save(r->a);
}

void stores(root *r);
void stores(root *r)
{
	r->b = 1; /* BUG: missing-flush-fence */
}
