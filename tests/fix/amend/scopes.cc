// Objects that flush when they end, which is too late.
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

private:
	const T &what_;
};

} // namespace pm

struct slot {
	uint64_t number, size, sum;
};
struct ring {
	uint64_t tail;
	slot slots[8];
};

void correct(ring *r);
void correct(ring *r)
{
	{
		pm::Watch guard(r->slots[0]);
		r->slots[0].number = 1;
	}
	r->tail = 1;
	pm::keep(r->tail);
}

// A call before what publishes the slot does for the object, which ends with the function.
void send(ring *r, uint64_t number);
void send(ring *r, uint64_t number)
{
	slot &s = r->slots[number % 8];
	pm::Watch guard(s);
	s.number = number; /* BUG: ordering before send */
	s.size = 0;
	s.sum = number + 1;
	r->tail++; /* STEP: send */
	pm::keep(r->tail);
}

// Not so here: the object is needed where it ends.
void send_twice(ring *r, uint64_t number);
void send_twice(ring *r, uint64_t number)
{
	slot &s = r->slots[number % 8];
	pm::Watch guard(s);
	s.number = number; /* BUG: ordering before send_twice */
	r->tail++; /* STEP: send_twice */
	pm::keep(r->tail);
	s.size = 3;
}
