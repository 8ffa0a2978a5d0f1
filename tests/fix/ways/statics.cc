// Static methods of a class that is nothing but that, and a member that flushes for its owner.
#include <cstddef>
#include <cstdint>

#include "tests/fix/ways/machine.h"

struct Persist {
	static void flush(const void *from, std::size_t len)
	{
		for (std::uintptr_t at = reinterpret_cast<std::uintptr_t>(from) & ~std::uintptr_t(63); at < reinterpret_cast<std::uintptr_t>(from) + len; at += 64)
			MACHINE_FLUSH(at);
	}
	static void fence() { MACHINE_FENCE(); }
};

class Writer {
public:
	void save(const void *from, std::size_t len)
	{
		Persist::flush(from, len);
		Persist::fence();
		bytes += len;
	}

private:
	std::size_t bytes = 0;
};

struct Root {
	uint64_t a, b;
};

class Store {
public:
	void set(uint64_t v)
	{
		root->a = v;
		writer_.save(&root->a, sizeof root->a);
	}

	void add(uint64_t v)
	{
		root->b += v; /* BUG: missing-flush-fence */
	}

private:
	Writer writer_;
	Root *root = nullptr;
};

void plain(Root *r);
void plain(Root *r)
{
	r->a = 1; /* BUG: missing-flush */
	Persist::flush(&r->b, sizeof r->b);
	Persist::fence();
}
