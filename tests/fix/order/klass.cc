// Two members that change together: in a method, in a function with an early return, between jumps, exceptions, a lambda.
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

int jumps_over(PMEMobjpool *pop, pair *p, int which);
int jumps_over(PMEMobjpool *pop, pair *p, int which)
{
	int result = -1;

	if (which < 0)
		return -1;
	if (which == 7)
		goto out;
	p->a = 1; /* TX */
	p->b = 2; /* TX */
	result = 0;
out:
	pmemobj_persist(pop, p, sizeof *p);
	return result;
}

int throws(PMEMobjpool *pop, pair *p, int which);
int throws(PMEMobjpool *pop, pair *p, int which)
{
	p->a = 1; /* TX, left: throws an exception */
	if (which)
		throw which;
	p->b = 2; /* TX */
	pmemobj_persist(pop, p, sizeof *p);
	return 0;
}

int in_lambda(PMEMobjpool *pop, pair *p, int which);
int in_lambda(PMEMobjpool *pop, pair *p, int which)
{
	auto change = [&](uint64_t value) {
		p->a = value; /* TX */
		p->b = value; /* TX */
	};

	if (which < 0)
		return -1;
	change(1);
	pmemobj_persist(pop, p, sizeof *p);
	return 0;
}

void raw_string(pair *p);
void raw_string(pair *p)
{
	p->a = 1; /* TX */
	if (R"(one
two)"[3] == ' ')
		p->a = 3; /* TX */
	p->b = 2; /* TX */
}
