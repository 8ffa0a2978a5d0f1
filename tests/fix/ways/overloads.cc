// One name for several functions: a range, and an object by reference. What is called is told by how many arguments it is given.
#include <cstddef>
#include <cstdint>

#include "tests/fix/ways/machine.h"

namespace pm {

inline void write_back(const void *from, std::size_t len)
{
	for (std::uintptr_t at = reinterpret_cast<std::uintptr_t>(from) & ~std::uintptr_t(63); at < reinterpret_cast<std::uintptr_t>(from) + len; at += 64)
		MACHINE_FLUSH(at);
}

inline void wait()
{
	MACHINE_FENCE();
}

template <typename T> void write_back(const T &what)
{
	write_back(&what, sizeof(what));
}

template <typename T> void keep(const T &what)
{
	write_back(what);
	wait();
}

} // namespace pm

struct root {
	uint64_t a, b;
	uint64_t many[16];
};

void correct(root *r);
void correct(root *r)
{
	r->a = 1;
	pm::write_back(r->a);
	r->b = 1;
	pm::keep(r->b);
}

void stores(root *r);
void stores(root *r)
{
	r->b = 1; /* BUG: missing-flush-fence */
}

void flushes(root *r);
void flushes(root *r)
{
	r->many[3] = 1; /* BUG: missing-flush */
	pm::wait();
}
