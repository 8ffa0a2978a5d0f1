// A class that flushes for others, by methods; a fence that is missing comes from the object that flushed.
#include <cstddef>
#include <cstdint>

#include "tests/fix/ways/machine.h"

class Region {
public:
	void pm_flush(const void *from, std::size_t len)
	{
		for (auto at = reinterpret_cast<std::uintptr_t>(from) & ~std::uintptr_t(63); at < reinterpret_cast<std::uintptr_t>(from) + len; at += 64)
			MACHINE_FLUSH(at);
		nflushes++;
	}

	void settle() { MACHINE_FENCE(); }

	void save(const void *from, std::size_t len)
	{
		pm_flush(from, len);
		settle();
	}

private:
	unsigned nflushes = 0;
};

struct Header {
	uint64_t head, tail;
};

class Queue {
public:
	Queue(Region &region, Header *header) : region_(region), h_(header) {}

	void push()
	{
		h_->tail++;
		region_.save(&h_->tail, sizeof h_->tail);
	}

	void pop()
	{
		h_->head++; /* BUG: missing-flush-fence */
	}

	void clear();
	void swap();

private:
	Region &region_;
	Header *h_;
};

void Queue::clear()
{
	h_->head = h_->tail = 0;
	region_.pm_flush(&h_->head, 16); /* BUG: missing-fence */
}

void Queue::swap()
{
	h_->head++;
	region_.pm_flush(&h_->head, 8);
	h_->tail--;
	region_.pm_flush(&h_->tail, 8); /* BUG: missing-fence */
}
