/* Lines only: two members that may lie on two lines are two flushes, two that cannot are one; one fence for all. */
#include <stdint.h>

#include "tests/fix/ways/machine.h"

struct pair {
	uint64_t a, b;
};

struct __attribute__((aligned(64))) head {
	uint64_t a, b;
	uint32_t c[4];
};

void correct(struct pair *p);
void correct(struct pair *p)
{
	p->a = 1;
	MACHINE_FLUSH(&p->a);
	MACHINE_FENCE();
}

void pairs(struct pair *p);
void pairs(struct pair *p)
{
	p->a = 2; /* BUG: missing-flush-fence */
	MACHINE_FLUSH(&p->a);
	p->b = 3; /* BUG: missing-flush-fence */
	MACHINE_FLUSH(&p->b);
	MACHINE_FENCE();
}

void heads(struct head *h);
void heads(struct head *h)
{
	h->a = 2; /* BUG: missing-flush-fence */
	h->b = 3; /* BUG: missing-flush-fence */
	h->c[1] = 4; /* BUG: missing-flush-fence */
	MACHINE_FLUSH(h);
	MACHINE_FENCE();
}

void twice(struct pair *p, uint64_t v);
void twice(struct pair *p, uint64_t v)
{
	p->a = v; /* BUG: missing-flush-fence */
	MACHINE_FLUSH(&p->a);
	p->b = v; /* BUG: missing-flush */
	MACHINE_FLUSH(&p->b);
	MACHINE_FENCE();
}
