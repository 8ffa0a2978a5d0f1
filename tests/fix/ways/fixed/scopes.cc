// What an object is told to watch is durable when it ends, and that is how this file does it.
#include <cstddef>
#include <cstdint>

#include "tests/fix/ways/machine.h"

namespace pm {

inline void write_back(const void *from, std::size_t len)
{
	for (std::uintptr_t at = reinterpret_cast<std::uintptr_t>(from) & ~std::uintptr_t(63); at < reinterpret_cast<std::uintptr_t>(from) + len; at += 64)
		MACHINE_FLUSH(at);
}

template <typename T> void keep(const T &what)
{
	write_back(&what, sizeof(what));
	MACHINE_FENCE();
}

template <typename T> class Watch {
public:
	explicit Watch(const T &what) : what_(what) {}
	~Watch() { keep(what_); }
	Watch(const Watch &) = delete;
	Watch &operator=(const Watch &) = delete;

private:
	const T &what_;
};

} // namespace pm

struct root {
	uint64_t a, b;
	uint64_t many[16];
};

void answer(uint64_t value);

void correct(root *r);
void correct(root *r)
{
	pm::Watch guard(r->a);

	r->a = 1;
}

void correct_too(root *r, uint64_t value);
void correct_too(root *r, uint64_t value)
{
	{
		pm::Watch guard(r->b);
		r->b = value;
	}
	answer(value);
}

// It ends with the function.
void last(root *r);
void last(root *r)
{
	pm::Watch guard(r->b);

	r->b = 1; /* BUG: missing-flush-fence */
}

// It must end before others hear of it.
void answers(root *r, uint64_t value);
void answers(root *r, uint64_t value)
{
	{
		pm::Watch guard(r->many[3]);

		r->many[3] = value; /* BUG: ack-before-durable before answers */
	}
	answer(value); /* STEP: answers */
}

// There are braces already, or there must be.
void sometimes(root *r, bool is_first);
void sometimes(root *r, bool is_first)
{
	if (is_first) {
		pm::Watch guard(r->a);

		r->a = 1; /* BUG: missing-flush-fence */
	} else {
		pm::Watch guard(r->b);

		r->b = 1; /* BUG: missing-flush-fence */
	}
}

// The name is taken.
uint64_t twice(root *r, uint64_t guard);
uint64_t twice(root *r, uint64_t guard)
{
	pm::Watch guard2(r->many[0]);

	r->many[0] = guard; /* BUG: missing-flush-fence */
	return guard;
}
