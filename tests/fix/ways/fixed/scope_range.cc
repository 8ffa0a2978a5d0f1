// An object that is given an address and a length, and is no template; its destructor leaves the work to a method.
#include <cstddef>
#include <cstdint>

#include "tests/fix/ways/machine.h"

struct Saver {
	Saver(std::size_t len, const void *from)
	{
		this->begin = from;
		length = len;
	}
	~Saver() { save(); }
	void save()
	{
		for (std::uintptr_t at = reinterpret_cast<std::uintptr_t>(begin) & ~std::uintptr_t(63); at < reinterpret_cast<std::uintptr_t>(begin) + length; at += 64)
			MACHINE_FLUSH(at);
		MACHINE_FENCE();
	}

	const void *begin;
	std::size_t length;
};

struct root {
	uint64_t a, b;
};

void correct(root *r);
void correct(root *r)
{
	Saver saver{sizeof r->a, &r->a};

	r->a = 1;
}

void stores(root *r);
void stores(root *r)
{
	Saver saver{sizeof r->b, &r->b};

	r->b = 1; /* BUG: missing-flush-fence */
}
