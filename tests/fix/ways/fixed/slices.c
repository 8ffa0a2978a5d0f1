/* What is to be flushed is given as a structure, by value, which macros make. */
#include <stddef.h>
#include <stdint.h>

#include "tests/fix/ways/machine.h"

struct slice {
	size_t len;
	const void *begin;
};

#define OF(x) ((struct slice){ sizeof(x), &(x) })
#define FROM(p, n) ((struct slice){ (n), (p) })

struct root {
	uint64_t a, b;
	uint64_t many[16];
};

static void save(struct slice s)
{
	for (uintptr_t at = (uintptr_t)s.begin & ~(uintptr_t)63; at < (uintptr_t)s.begin + s.len; at += 64)
		MACHINE_FLUSH(at);
	MACHINE_FENCE();
}

void correct(struct root *r);
void correct(struct root *r)
{
	r->a = 1;
	save(OF(r->a));
}

void stores(struct root *r);
void stores(struct root *r)
{
	r->b = 1; /* BUG: missing-flush-fence */
	save(OF(r->b));
}

void fills(struct root *r, unsigned n);
void fills(struct root *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		r->many[i] = i; /* BUG: missing-flush-fence */
	save(FROM(r->many, n * sizeof(*r->many)));
}
