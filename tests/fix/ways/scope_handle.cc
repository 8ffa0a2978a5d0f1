// Objects that flush when they end stand for what they are given: they have its name, and stores go through them.
#include <cstddef>
#include <cstdint>

#include "tests/fix/ways/machine.h"

namespace pm {

inline void persist(const void *from, std::size_t len)
{
	for (std::uintptr_t at = reinterpret_cast<std::uintptr_t>(from) & ~std::uintptr_t(63); at < reinterpret_cast<std::uintptr_t>(from) + len; at += 64)
		MACHINE_FLUSH(at);
	MACHINE_FENCE();
}

template <typename T> class Edit {
public:
	explicit Edit(T &target) : target_(target) {}
	~Edit() { persist(&target_, sizeof(T)); }
	Edit(const Edit &) = delete;
	Edit &operator=(const Edit &) = delete;
	T &operator*() { return target_; }

private:
	T &target_;
};

} // namespace pm

struct root {
	uint64_t count, total, last;
};

void answer(uint64_t value);

void correct(root *r);
void correct(root *r)
{
	pm::Edit count(r->count);

	++*count;
}

void stores(root *r, uint64_t value);
void stores(root *r, uint64_t value)
{
	r->total = value; /* BUG: ack-before-durable before answers */
	answer(value); /* STEP: answers */
}

void steps(root *r);
void steps(root *r)
{
	r->last++; /* BUG: missing-flush-fence */
}
