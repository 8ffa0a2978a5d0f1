/* Compiled only where there is persistent memory, as the rest of the file does it. */
#include <stddef.h>
#include <stdint.h>

#define HAVE_PM 1

#ifdef HAVE_PM
#include "tests/fix/ways/machine.h"

static void put(const void *from, size_t len)
{
	for (uintptr_t at = (uintptr_t)from & ~(uintptr_t)63; at < (uintptr_t)from + len; at += 64)
		MACHINE_FLUSH(at);
}
#endif

struct root {
	uint64_t a, b;
};

void correct(struct root *r);
void correct(struct root *r)
{
	r->a = 1;
#ifdef HAVE_PM
	put(&r->a, sizeof r->a);
	MACHINE_FENCE();
#endif
}

void stores(struct root *r, int n);
void stores(struct root *r, int n)
{
	r->b = 1; /* BUG: missing-flush-fence */
	if (n)
		r->a = 2; /* BUG: missing-flush-fence */
#ifdef HAVE_PM
	put(r, sizeof *r);
	MACHINE_FENCE();
#endif
#ifdef HAVE_PM
	r->a = 4; /* BUG: missing-flush-fence */
	put(&r->a, sizeof r->a);
	MACHINE_FENCE();
#endif
}
