// Two members that change together, in a method; and in a function with an early return.
#include <cstdint>
#include <libpmemobj.h>

struct pair {
	uint64_t a, b;

	void set(PMEMobjpool *pop, uint64_t value);
};

void pair::set(PMEMobjpool *pop, uint64_t value)
{
	a = value;
	pmemobj_persist(pop, &a, sizeof a);
	this->b = value;
	pmemobj_persist(pop, &b, sizeof b);
}

int swap(pair &p, bool is_wanted);
int swap(pair &p, bool is_wanted)
{
	uint64_t old = p.a;

	p.a = p.b;
	if (!is_wanted)
		return -1;
	p.b = old;
	return 0;
}
