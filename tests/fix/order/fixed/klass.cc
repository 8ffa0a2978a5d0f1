// Two members that change together: in a method, in a function with an early return, between jumps, exceptions, a lambda.
#include <cstdint>
#include <libpmemobj.h>
#include <stdlib.h>

struct pair {
	uint64_t a, b;

	void set(PMEMobjpool *pop, uint64_t value);
};

void pair::set(PMEMobjpool *pop, uint64_t value)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&a, sizeof(a));
		a = value;
		pmemobj_tx_add_range_direct(&this->b, sizeof(this->b));
		this->b = value;
	} TX_ONABORT {
		abort();
	} TX_END
}

int swap(pair &p, bool is_wanted);
int swap(pair &p, bool is_wanted)
{
	uint64_t old = p.a;

	int volatile result = 0;
	volatile int is_returning = 0;
	volatile int is_aborted = 0;

	TX_BEGIN(pmemobj_pool_by_ptr(&p.a)) {
		pmemobj_tx_add_range_direct(&p.a, sizeof(p.a));
		p.a = p.b;
		if (!is_wanted)
			{ result = -1; is_returning = 1; goto tx_done; }
		pmemobj_tx_add_range_direct(&p.b, sizeof(p.b));
		p.b = old;
	tx_done:;
	} TX_ONABORT {
		is_aborted = 1;
	} TX_END
	if (is_aborted)
		return -1;
	if (is_returning)
		return result;
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
	volatile int is_aborted;
	is_aborted = 0;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&p->a, sizeof(p->a));
		p->a = 1; /* TX */
		pmemobj_tx_add_range_direct(&p->b, sizeof(p->b));
		p->b = 2; /* TX */
	} TX_ONABORT {
		is_aborted = 1;
	} TX_END
	if (is_aborted)
		return -1;
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
		TX_BEGIN(pop) {
			pmemobj_tx_add_range_direct(&p->a, sizeof(p->a));
			p->a = value; /* TX */
			pmemobj_tx_add_range_direct(&p->b, sizeof(p->b));
			p->b = value; /* TX */
		} TX_ONABORT {
			abort();
		} TX_END
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
	TX_BEGIN(pmemobj_pool_by_ptr(&p->a)) {
		pmemobj_tx_add_range_direct(&p->a, sizeof(p->a));
		p->a = 1; /* TX */
		if (R"(one
two)"[3] == ' ')
			p->a = 3; /* TX */
		pmemobj_tx_add_range_direct(&p->b, sizeof(p->b));
		p->b = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
}
