// Objects that flush when they end, which is too late.
#include <algorithm>
#include <array>
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

class entry {
public:
	void fill(uint64_t number);

private:
	uint64_t number_ = 0, sum_ = 0;
};
struct book {
	uint64_t n;
	entry entries[8];
};

void entry::fill(uint64_t number)
{
	number_ = number;
	sum_ = number + 1;
}

// A method stores.
void add(book *b, uint64_t number);
void add(book *b, uint64_t number)
{
	entry &e = b->entries[b->n % 8];
	pm::Watch guard(e);
	e.fill(number); /* BUG: ordering in fill before add */
	b->n++; /* STEP: add */
	pm::keep(b->n);
}

// A copy into an array of the class, by its iterator.
class label {
public:
	void set(const char *text);

private:
	std::array<char, 32> text_;
};
struct shelf {
	uint64_t n;
	label labels[8];
};

void label::set(const char *text)
{
	std::copy_n(text, 8, text_.begin());
}

void put_up(shelf *s, const char *text);
void put_up(shelf *s, const char *text)
{
	label &l = s->labels[s->n % 8];
	pm::Watch guard(l);
	l.set(text); /* BUG: ordering in set before put_up */
	s->n++; /* STEP: put_up */
	pm::keep(s->n);
}
