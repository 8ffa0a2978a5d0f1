// Not so here: whether the object writes back is decided on the way, and another has a copy of what it is given.
#include <cstddef>
#include <cstdint>

#include "tests/fix/ways/machine.h"

inline void keep(const void *from, std::size_t len)
{
	for (std::uintptr_t at = reinterpret_cast<std::uintptr_t>(from) & ~std::uintptr_t(63); at < reinterpret_cast<std::uintptr_t>(from) + len; at += 64)
		MACHINE_FLUSH(at);
	MACHINE_FENCE();
}

class Attempt {
public:
	Attempt(const void *from, std::size_t len) : from_(from), len_(len) {}
	~Attempt()
	{
		if (is_good_)
			keep(from_, len_);
	}
	void succeed() { is_good_ = true; }

private:
	const void *from_;
	std::size_t len_;
	bool is_good_ = false;
};

class Kept {
public:
	explicit Kept(const uint64_t &value) : value_(value) {}
	~Kept() { keep(&value_, sizeof(value_)); }

private:
	uint64_t value_;
};

struct root {
	uint64_t a, b;
};

void correct(root *r);
void correct(root *r)
{
	Attempt attempt(&r->a, sizeof(r->a));
	Kept kept(r->b);

	r->a = 1;
	attempt.succeed();
}

void correct_too(root *r);
void correct_too(root *r)
{
	Attempt attempt(&r->b, sizeof(r->b));

	r->b = 1;
	attempt.succeed();
}

void stores(root *r);
void stores(root *r)
{
	r->b = 2; /* BUG: missing-flush-fence */
	keep(&r->b, sizeof(r->b));
}
